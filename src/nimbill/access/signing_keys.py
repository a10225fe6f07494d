"""Keys that sign tokens and encrypt secrets, stored encrypted in the database."""

import secrets
from datetime import datetime

import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.tokens import SigningKey
from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.foundation.encryption import DecryptionError, Encryptor
from nimbill.foundation.errors import OperatorError
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product

_KEY_CHANGE_LOCK = 7_241_996_332

signing_keys = sa.Table(
    "signing_keys",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("product", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("public_key", sa.Text, nullable=False),
    sa.Column("encrypted_private_key", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("state_time", sa.DateTime(timezone=True), nullable=False),
)

organisation_keys = sa.Table(
    "organisation_keys",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("encrypted_key", sa.LargeBinary, nullable=False),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
)


class WrongKeyFile(OperatorError):
    """The key file does not belong to this database."""


async def lock_keys(db: AsyncConnection) -> None:
    """Let only one process change keys at a time."""
    await advisory_lock(db, _KEY_CHANGE_LOCK)


async def add_signing_key(
    db: AsyncConnection, encryptor: Encryptor, product: Product, state: str, at: datetime
) -> None:
    kid = new_id("key")
    private_key = ec.generate_private_key(ec.SECP256R1())
    await db.execute(
        sa.insert(signing_keys).values(
            kid=kid,
            product=product,
            state=state,
            public_key=_encode_public_key(private_key.public_key()),
            encrypted_private_key=encryptor.encrypt(
                _encode_private_key(private_key), _signing_key_data(kid)
            ),
            create_time=at,
            state_time=at,
        )
    )


async def load_signing_keys(db: AsyncConnection, encryptor: Encryptor) -> dict[str, SigningKey]:
    """Load all keys, with the private part of the active ones."""
    rows = (await db.execute(sa.select(signing_keys))).all()
    return {row.kid: _decrypt_signing_key(row, encryptor) for row in rows}


async def load_active_key_id(db: AsyncConnection, product: Product) -> str:
    """Load the id of the key that signs now, which another process may have rotated."""
    stmt = sa.select(signing_keys.c.kid).where(
        signing_keys.c.product == product, signing_keys.c.state == "active"
    )
    kid: str = (await db.execute(stmt)).scalar_one()
    return kid


def _decrypt_signing_key(row: Row, encryptor: Encryptor) -> SigningKey:
    public_key = serialization.load_pem_public_key(row.public_key.encode())
    assert isinstance(public_key, ec.EllipticCurvePublicKey)
    private_key = None
    if row.state == "active":
        try:
            private_bytes = encryptor.decrypt(row.encrypted_private_key, _signing_key_data(row.kid))
        except DecryptionError:
            raise WrongKeyFile(
                "The key file does not belong to this database. Restore the right key file."
            ) from None
        loaded_key = serialization.load_der_private_key(private_bytes, password=None)
        assert isinstance(loaded_key, ec.EllipticCurvePrivateKey)
        private_key = loaded_key
    return SigningKey(row.kid, Product(row.product), public_key, private_key)


async def add_organisation_key(
    db: AsyncConnection, scope: TenantScope, encryptor: Encryptor
) -> None:
    associated_data = _organisation_key_data(scope.organisation_id, version=1)
    await db.execute(
        sa.insert(organisation_keys).values(
            organisation_id=scope.organisation_id,
            version=1,
            encrypted_key=encryptor.encrypt(secrets.token_bytes(32), associated_data),
        )
    )


async def load_organisation_encryptor(
    db: AsyncConnection, scope: TenantScope, encryptor: Encryptor
) -> Encryptor:
    """Load the key of the organisation, which the key file encrypts."""
    stmt = (
        sa.select(organisation_keys)
        .where(of_tenant(organisation_keys, scope))
        .order_by(organisation_keys.c.version.desc())
        .limit(1)
    )
    row = (await db.execute(stmt)).one()
    associated_data = _organisation_key_data(scope.organisation_id, version=row.version)
    return Encryptor(encryptor.decrypt(row.encrypted_key, associated_data))


def _organisation_key_data(organisation_id: str, *, version: int) -> tuple[str, ...]:
    return ("organisation_keys", "encrypted_key", organisation_id, str(version))


def _signing_key_data(kid: str) -> tuple[str, ...]:
    return ("signing_keys", "encrypted_private_key", "", kid)


def _encode_public_key(key: ec.EllipticCurvePublicKey) -> str:
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def _encode_private_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
