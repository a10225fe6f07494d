"""Stored second factors and challenges, and the queries on them."""

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.identity.users.records import users

second_factors = sa.Table(
    "second_factors",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("factor_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("credential_id", sa.LargeBinary),
    sa.Column("public_key", sa.LargeBinary),
    sa.Column("sign_count", sa.BigInteger),
    sa.Column("encrypted_secret", sa.LargeBinary),
    sa.Column("last_step", sa.BigInteger),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("last_use_time", sa.DateTime(timezone=True)),
)

second_factor_challenges = sa.Table(
    "second_factor_challenges",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("product", sa.Text, nullable=False),
    sa.Column("credential_epoch", sa.Integer, nullable=False),
    sa.Column("kind", sa.Text),
    sa.Column("challenge", sa.LargeBinary),
    sa.Column("encrypted_secret", sa.LargeBinary),
    sa.Column("expire_time", sa.DateTime(timezone=True), nullable=False),
)


async def list_factors(db: AsyncConnection, scope: TenantScope, user_id: str) -> Sequence[Row]:
    """List the factors of a user, oldest first."""
    stmt = (
        sa.select(second_factors)
        .where(of_tenant(second_factors, scope), second_factors.c.user_id == user_id)
        .order_by(second_factors.c.create_time, second_factors.c.factor_id)
    )
    return (await db.execute(stmt)).all()


async def has_factors(db: AsyncConnection, scope: TenantScope, user_id: str) -> bool:
    stmt = sa.select(
        sa.exists().where(of_tenant(second_factors, scope), second_factors.c.user_id == user_id)
    )
    return bool((await db.execute(stmt)).scalar_one())


async def add_factor(
    db: AsyncConnection,
    scope: TenantScope,
    *,
    factor_id: str,
    user_id: str,
    kind: str,
    name: str,
    at: datetime,
    credential_id: bytes | None = None,
    public_key: bytes | None = None,
    sign_count: int | None = None,
    encrypted_secret: bytes | None = None,
    last_step: int | None = None,
) -> Row:
    stmt = (
        sa.insert(second_factors)
        .values(
            organisation_id=scope.organisation_id,
            factor_id=factor_id,
            user_id=user_id,
            kind=kind,
            name=name,
            credential_id=credential_id,
            public_key=public_key,
            sign_count=sign_count,
            encrypted_secret=encrypted_secret,
            last_step=last_step,
            create_time=at,
        )
        .returning(second_factors)
    )
    row: Row = (await db.execute(stmt)).one()
    return row


async def use_passkey(
    db: AsyncConnection, scope: TenantScope, factor: Row, *, sign_count: int, at: datetime
) -> bool:
    """Store the counter; False if another request has changed it since it was read."""
    return await _use_factor(
        db,
        scope,
        factor,
        unchanged=second_factors.c.sign_count == factor.sign_count,
        values={"sign_count": sign_count, "last_use_time": at},
    )


async def use_step(
    db: AsyncConnection, scope: TenantScope, factor: Row, *, step: int, at: datetime
) -> bool:
    """Store the time step of a code; False if another request has used this code or a later one."""
    return await _use_factor(
        db,
        scope,
        factor,
        unchanged=second_factors.c.last_step < step,
        values={"last_step": step, "last_use_time": at},
    )


async def _use_factor(
    db: AsyncConnection,
    scope: TenantScope,
    factor: Row,
    *,
    unchanged: sa.ColumnElement[bool],
    values: dict[str, int | datetime],
) -> bool:
    result = await db.execute(
        sa.update(second_factors)
        .where(
            of_tenant(second_factors, scope),
            second_factors.c.factor_id == factor.factor_id,
            unchanged,
        )
        .values(**values)
    )
    return bool(result.rowcount)


async def delete_factor(
    db: AsyncConnection, scope: TenantScope, user_id: str, factor_id: str
) -> None:
    await db.execute(
        sa.delete(second_factors).where(
            of_tenant(second_factors, scope),
            second_factors.c.user_id == user_id,
            second_factors.c.factor_id == factor_id,
        )
    )


async def delete_factors_of_user(db: AsyncConnection, scope: TenantScope, user_id: str) -> int:
    """Delete all factors of a user and return how many there were."""
    result = await db.execute(
        sa.delete(second_factors).where(
            of_tenant(second_factors, scope), second_factors.c.user_id == user_id
        )
    )
    return int(result.rowcount)


async def add_challenge(
    db: AsyncConnection,
    scope: TenantScope,
    user: Row,
    *,
    token_hash: bytes,
    purpose: str,
    product: str,
    challenge: bytes | None,
    expire_time: datetime,
) -> None:
    """Store a challenge that ends with the present password of the user."""
    await db.execute(
        sa.insert(second_factor_challenges).values(
            organisation_id=scope.organisation_id,
            token_hash=token_hash,
            user_id=user.user_id,
            purpose=purpose,
            product=product,
            credential_epoch=user.credential_epoch,
            challenge=challenge,
            expire_time=expire_time,
        )
    )


async def set_registration(
    db: AsyncConnection,
    scope: TenantScope,
    token_hash: bytes,
    *,
    kind: str,
    challenge: bytes | None,
    encrypted_secret: bytes | None,
) -> None:
    """Store what is being registered; it replaces what was begun before with the same token."""
    await db.execute(
        sa.update(second_factor_challenges)
        .where(
            of_tenant(second_factor_challenges, scope),
            second_factor_challenges.c.token_hash == token_hash,
        )
        .values(kind=kind, challenge=challenge, encrypted_secret=encrypted_secret)
    )


async def find_challenge(
    db: AsyncConnection,
    scope: TenantScope,
    token_hash: bytes,
    *,
    purpose: str,
    product: str | None,
    at: datetime,
) -> Row | None:
    """Find a challenge that is valid at this time and older than no password change."""
    stmt = (
        sa.select(second_factor_challenges)
        .join_from(
            second_factor_challenges,
            users,
            (users.c.organisation_id == second_factor_challenges.c.organisation_id)
            & (users.c.user_id == second_factor_challenges.c.user_id)
            & (users.c.credential_epoch == second_factor_challenges.c.credential_epoch),
        )
        .where(
            of_tenant(second_factor_challenges, scope),
            second_factor_challenges.c.token_hash == token_hash,
            second_factor_challenges.c.purpose == purpose,
            second_factor_challenges.c.expire_time > at,
        )
    )
    if product is not None:
        stmt = stmt.where(second_factor_challenges.c.product == product)
    return (await db.execute(stmt)).one_or_none()


async def use_challenge(db: AsyncConnection, scope: TenantScope, token_hash: bytes) -> bool:
    """Delete the challenge; False if another request has used it. Of two at once, one waits."""
    result = await db.execute(
        sa.delete(second_factor_challenges).where(
            of_tenant(second_factor_challenges, scope),
            second_factor_challenges.c.token_hash == token_hash,
        )
    )
    return bool(result.rowcount)


async def delete_expired_challenges(
    db: AsyncConnection, scope: TenantScope, *, at: datetime
) -> None:
    await db.execute(
        sa.delete(second_factor_challenges).where(
            of_tenant(second_factor_challenges, scope), second_factor_challenges.c.expire_time <= at
        )
    )
