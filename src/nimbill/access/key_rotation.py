"""The life of a signing key: next, active, retired, gone; without an outage at any step."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.signing_keys import add_signing_key, lock_keys, signing_keys
from nimbill.access.tokens import Issuer
from nimbill.database.tenant_scope import Row
from nimbill.foundation.basis import chosen
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.vocabulary import Product

basis = chosen("key-rotation")

PUBLISHED_BEFORE_USE = timedelta(hours=24)
ROTATED_EVERY = timedelta(days=90)
# a process may go on signing with a key for this long after another process retired it
STALE_SIGNER = timedelta(hours=2)


class NotYet(Exception):
    """The next key has not been published long enough for every client to have seen it."""


async def ensure_keys(
    db: AsyncConnection, encryptor: Encryptor, *, at: datetime, products: Iterable[Product]
) -> None:
    """Every product has a key that signs and one that will; made at first start."""
    await lock_keys(db)
    for product in products:
        await _make_missing(db, encryptor, product, at)


async def keep_keys(
    db: AsyncConnection, encryptor: Encryptor, *, at: datetime, issuers: Mapping[Product, Issuer]
) -> None:
    """Old keys give way to the next ones; those whose last token has expired go."""
    await ensure_keys(db, encryptor, at=at, products=issuers)
    for product in issuers:
        states = await _states(db, product)
        aged = at - states["active"].state_time >= ROTATED_EVERY
        if aged and at - states["next"].state_time >= PUBLISHED_BEFORE_USE:
            await _advance(db, encryptor, product, states, at=at, at_once=False)
    longest = timedelta(seconds=max(issuer.lifetime_seconds for issuer in issuers.values()))
    await db.execute(
        sa.delete(signing_keys).where(
            signing_keys.c.state == "retired",
            signing_keys.c.state_time < at - longest - STALE_SIGNER,
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
    """On command; `at_once` does not wait until the next key has been published for a day."""
    await lock_keys(db)
    for product in products:
        await _advance(db, encryptor, product, await _states(db, product), at=at, at_once=at_once)


async def drop_key(db: AsyncConnection, encryptor: Encryptor, kid: str, *, at: datetime) -> bool:
    """An emergency: every token this key signed dies on its next request."""
    await lock_keys(db)
    dropped = await db.execute(
        sa.delete(signing_keys).where(signing_keys.c.kid == kid).returning(signing_keys)
    )
    row: Row | None = dropped.one_or_none()
    if row is None:
        return False
    if row.state == "active":
        await db.execute(_to_state("active", at).where(_is(Product(row.product), "next")))
    await _make_missing(db, encryptor, Product(row.product), at)
    return True


async def _make_missing(
    db: AsyncConnection, encryptor: Encryptor, product: Product, at: datetime
) -> None:
    present = await _states(db, product)
    for state in ("active", "next"):
        if state not in present:
            await add_signing_key(db, encryptor, product, state, at)


async def _advance(
    db: AsyncConnection,
    encryptor: Encryptor,
    product: Product,
    states: dict[str, Row],
    *,
    at: datetime,
    at_once: bool,
) -> None:
    successor = states.get("next")
    published_enough = successor is not None and at - successor.state_time >= PUBLISHED_BEFORE_USE
    if successor is None or not (published_enough or at_once):
        raise NotYet(f"the next {product} key has been published for less than a day")
    await db.execute(_to_state("retired", at).where(_is(product, "active")))
    await db.execute(_to_state("active", at).where(_is(product, "next")))
    await add_signing_key(db, encryptor, product, "next", at)


async def _states(db: AsyncConnection, product: Product) -> dict[str, Row]:
    question = sa.select(signing_keys).where(
        signing_keys.c.product == product, signing_keys.c.state.in_(["next", "active"])
    )
    return {row.state: row for row in await db.execute(question)}


def _to_state(state: str, at: datetime) -> sa.Update:
    return sa.update(signing_keys).values(state=state, state_time=at)


def _is(product: Product, state: str) -> sa.ColumnElement[bool]:
    return sa.and_(signing_keys.c.product == product, signing_keys.c.state == state)


async def list_keys(db: AsyncConnection) -> list[Row]:
    question = sa.select(signing_keys).order_by(
        signing_keys.c.product, signing_keys.c.create_time, signing_keys.c.kid
    )
    return list((await db.execute(question)).all())
