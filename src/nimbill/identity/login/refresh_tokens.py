"""Refresh tokens: opaque, stored as hashes, rotated at each use; reuse revokes the family."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.ids import new_id
from nimbill.foundation.product import Product
from nimbill.identity.login import records

# See docs/choices.md, refresh-tokens.

IDLE_LIFETIME = timedelta(hours=12)
ABSOLUTE_LIFETIME = timedelta(days=7)
REPEAT_WINDOW = timedelta(seconds=10)  # a client may repeat a request whose response it lost


@dataclass(frozen=True, slots=True)
class TokenSubject:
    """Whom a token represents. Without a client it belongs to a console session."""

    scope: TenantScope
    user_id: str
    client_id: str | None
    epoch: int
    subject_type: str


@dataclass(frozen=True, slots=True)
class TokenFamily:
    subject: TokenSubject
    family_id: str
    refresh_token: str


@dataclass(frozen=True, slots=True)
class SigningInBrowser:
    """What a browser says about itself, and its address; shown in the list of sessions."""

    user_agent: str | None
    address: str | None


NO_BROWSER = SigningInBrowser(None, None)


class RefreshTokenReused(Exception):
    """A refresh token was used again after its successor was issued: revoke its family."""

    def __init__(self, scope: TenantScope, family_id: str) -> None:
        super().__init__(family_id)
        self.scope = scope
        self.family_id = family_id


class TokenFamilyInvalid(Exception):
    """The token is unknown, expired, revoked, of another client, or older than the password."""


async def start_family(
    db: AsyncConnection,
    product: Product,
    subject: TokenSubject,
    browser: SigningInBrowser = NO_BROWSER,
) -> TokenFamily:
    """Raise TokenFamilyInvalid if the user or the client was deleted concurrently."""
    family = TokenFamily(subject, new_id("ses"), generate_refresh_token())
    try:
        await records.add_family(
            db,
            subject.scope,
            at=clock.now(),
            token_hash=hash_token(family.refresh_token),
            family_id=family.family_id,
            user_id=subject.user_id,
            client_id=subject.client_id,
            product=product,
            subject_type=subject.subject_type,
            epoch=subject.epoch,
            user_agent=browser.user_agent,
            address=browser.address,
        )
    except IntegrityError:
        raise TokenFamilyInvalid from None
    return family


async def rotate_refresh_token(
    db: AsyncConnection,
    encryptor: Encryptor,
    scope: TenantScope,
    product: Product,
    *,
    client_id: str | None,
    refresh_token: str,
) -> TokenFamily:
    """Return the successor of a refresh token; a repetition within ten seconds returns the same."""
    hash_ = hash_token(refresh_token)
    row = await records.lock_refresh_token(db, scope, hash_)
    if row is None or not _is_valid(row, product, client_id):
        raise TokenFamilyInvalid
    subject = TokenSubject(scope, row.user_id, client_id, row.credential_epoch, row.subject_type)
    organisation_encryptor = await load_organisation_encryptor(db, scope, encryptor)
    associated_data = ("refresh_tokens", "encrypted_successor", scope.organisation_id, hash_.hex())
    if row.used_time is not None:
        if abs(clock.now() - row.used_time) > REPEAT_WINDOW:  # also if the clock was set back
            raise RefreshTokenReused(scope, row.family_id)
        successor = organisation_encryptor.decrypt(
            row.encrypted_successor, associated_data
        ).decode()
        return TokenFamily(subject, row.family_id, successor)
    successor = generate_refresh_token()
    await records.use_refresh_token(
        db,
        scope,
        hash_,
        at=clock.now(),
        successor_hash=hash_token(successor),
        encrypted_successor=organisation_encryptor.encrypt(successor.encode(), associated_data),
        family_id=row.family_id,
    )
    return TokenFamily(subject, row.family_id, successor)


def _is_valid(row: Row, product: Product, client_id: str | None) -> bool:
    now = clock.now()
    return (
        not row.revoked
        and row.product == product
        and row.client_id == client_id
        and now - row.issue_time <= IDLE_LIFETIME
        and now - row.create_time <= ABSOLUTE_LIFETIME
    )


def generate_refresh_token() -> str:
    """Return 256 random bits; the token carries no data."""
    return f"nb_rt_{secrets.token_urlsafe(32)}"


def hash_token(token: str) -> bytes:
    return sha256(token.encode()).digest()
