"""The database a command works with: the one at the address given, or the embedded one."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.access.key_rotation import ensure_keys
from nimbill.access.signing_keys import load_signing_keys
from nimbill.application.installed import PRODUCTS
from nimbill.application.schema import MIGRATIONS
from nimbill.database.embedded_postgres import embedded_postgres
from nimbill.database.migrate import migrate
from nimbill.database.tenant_scope import engine_for
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor, load_or_create_key
from nimbill.foundation.settings import Settings

T = TypeVar("T")


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """Its address, for as long as it is needed; an embedded server is stopped by its last user."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with embedded_postgres(settings.data / "postgres") as address:
        yield address.url


def with_database(settings: Settings, do: Callable[[str, Encryptor], Coroutine[Any, Any, T]]) -> T:
    """Bring the database up to date, then do one thing with it."""

    async def prepared(url: str, encryptor: Encryptor) -> T:
        await prepare(url, encryptor)
        return await do(url, encryptor)

    with database(settings) as url:
        return asyncio.run(prepared(url, load_or_create_key(settings.key_file)))


def with_engine(settings: Settings, do: Callable[[AsyncEngine], Coroutine[Any, Any, T]]) -> T:
    """The same, with connections to it."""

    async def connected(url: str, _sealer: Encryptor) -> T:
        engine = engine_for(url)
        try:
            return await do(engine)
        finally:
            await engine.dispose()

    return with_database(settings, connected)


async def prepare(url: str, encryptor: Encryptor) -> None:
    """Migrations, then the signing keys; refuses a key file that is not this database's."""
    await migrate(url, MIGRATIONS)
    engine = engine_for(url)
    try:
        async with engine.begin() as db:
            await ensure_keys(db, encryptor, at=clock.now(), products=PRODUCTS)
            await load_signing_keys(db, encryptor)
    finally:
        await engine.dispose()
