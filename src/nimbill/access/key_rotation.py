"""Rotate signing keys without an outage: next, active, retired, deleted."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import add_signing_key, lock_keys, signing_keys
from nimbill.access.tokens import TokenIssuer
from nimbill.database.tenant_scope import Row
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.product import Product

# See docs/choices.md, key-rotation.

PUBLICATION_PERIOD = timedelta(hours=24)
ROTATION_INTERVAL = timedelta(days=90)
# A process may sign with a key for this long after another process has retired it.
STALE_SIGNER_PERIOD = timedelta(hours=2)


class NextKeyTooNew(Exception):
    """The next key was published too recently for every client to have loaded it."""


async def ensure_keys(
    db: AsyncConnection, encryptor: Encryptor, *, at: datetime, products: Iterable[Product]
) -> None:
    """Create the active and the next key of each product where they are missing."""
    await lock_keys(db)
    for product in products:
        await _create_missing_keys(db, encryptor, product, at)


async def maintain_keys(
    db: AsyncConnection,
    encryptor: Encryptor,
    *,
    at: datetime,
    issuers: Mapping[Product, TokenIssuer],
) -> None:
    """Rotate keys that are due, and delete retired keys whose last token has expired."""
    await ensure_keys(db, encryptor, at=at, products=issuers)
    for product in issuers:
        keys = await _load_keys_by_state(db, product)
        is_due = at - keys["active"].state_time >= ROTATION_INTERVAL
        if is_due and at - keys["next"].state_time >= PUBLICATION_PERIOD:
            await _rotate(db, encryptor, product, keys, at=at, at_once=False)
    longest_lifetime = timedelta(
        seconds=max(issuer.lifetime_seconds for issuer in issuers.values())
    )
    await db.execute(
        sa.delete(signing_keys).where(
            signing_keys.c.state == "retired",
            signing_keys.c.state_time < at - longest_lifetime - STALE_SIGNER_PERIOD,
        )
    )


async def rotate_keys(
    db: AsyncConnection,
    encryptor: Encryptor,
    *,
    at: datetime,
    products: Iterable[Product],
    at_once: bool,
) -> None:
    """Rotate now. `at_once` also uses a next key that was published less than a day ago."""
    await lock_keys(db)
    for product in products:
        await _rotate(
            db, encryptor, product, await _load_keys_by_state(db, product), at=at, at_once=at_once
        )


async def drop_key(db: AsyncConnection, encryptor: Encryptor, kid: str, *, at: datetime) -> bool:
    """Delete a key in an emergency: every token that it signed becomes invalid at once."""
    await lock_keys(db)
    result = await db.execute(
        sa.delete(signing_keys).where(signing_keys.c.kid == kid).returning(signing_keys)
    )
    row: Row | None = result.one_or_none()
    if row is None:
        return False
    if row.state == "active":
        await db.execute(_set_state("active", at).where(_has_state(Product(row.product), "next")))
    await _create_missing_keys(db, encryptor, Product(row.product), at)
    return True


async def _create_missing_keys(
    db: AsyncConnection, encryptor: Encryptor, product: Product, at: datetime
) -> None:
    keys = await _load_keys_by_state(db, product)
    for state in ("active", "next"):
        if state not in keys:
            await add_signing_key(db, encryptor, product, state, at)


async def _rotate(
    db: AsyncConnection,
    encryptor: Encryptor,
    product: Product,
    keys: dict[str, Row],
    *,
    at: datetime,
    at_once: bool,
) -> None:
    next_key = keys.get("next")
    is_old_enough = next_key is not None and at - next_key.state_time >= PUBLICATION_PERIOD
    if next_key is None or not (is_old_enough or at_once):
        raise NextKeyTooNew(f"The next {product} key was published less than a day ago.")
    await db.execute(_set_state("retired", at).where(_has_state(product, "active")))
    await db.execute(_set_state("active", at).where(_has_state(product, "next")))
    await add_signing_key(db, encryptor, product, "next", at)


async def _load_keys_by_state(db: AsyncConnection, product: Product) -> dict[str, Row]:
    stmt = sa.select(signing_keys).where(
        signing_keys.c.product == product, signing_keys.c.state.in_(["next", "active"])
    )
    return {row.state: row for row in await db.execute(stmt)}


def _set_state(state: str, at: datetime) -> sa.Update:
    return sa.update(signing_keys).values(state=state, state_time=at)


def _has_state(product: Product, state: str) -> sa.ColumnElement[bool]:
    return sa.and_(signing_keys.c.product == product, signing_keys.c.state == state)


async def list_keys(db: AsyncConnection) -> list[Row]:
    stmt = sa.select(signing_keys).order_by(
        signing_keys.c.product, signing_keys.c.create_time, signing_keys.c.kid
    )
    return list((await db.execute(stmt)).all())
