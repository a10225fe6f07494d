"""Opens the configured or the embedded database and brings it up to date."""

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
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation import clock
from nimbill.foundation.encryption import Encryptor, load_or_create_key
from nimbill.foundation.settings import Settings

T = TypeVar("T")


@contextmanager
def open_database(settings: Settings) -> Iterator[str]:
    """Yield the database URL. The last process that uses an embedded server stops it."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with embedded_postgres(settings.data / "postgres") as address:
        yield address.url


def run_with_database(
    settings: Settings, operation: Callable[[str, Encryptor], Coroutine[Any, Any, T]]
) -> T:
    """Prepare the database, then run one operation with its URL."""

    async def run(url: str, encryptor: Encryptor) -> T:
        await prepare_database(url, encryptor)
        return await operation(url, encryptor)

    with open_database(settings) as url:
        return asyncio.run(run(url, load_or_create_key(settings.key_file)))


def run_with_engine(
    settings: Settings, operation: Callable[[AsyncEngine, Encryptor], Coroutine[Any, Any, T]]
) -> T:
    """Prepare the database, then run one operation with an engine."""

    async def run(url: str, encryptor: Encryptor) -> T:
        engine = create_app_engine(url)
        try:
            return await operation(engine, encryptor)
        finally:
            await engine.dispose()

    return run_with_database(settings, run)


async def prepare_database(url: str, encryptor: Encryptor) -> None:
    """Migrate, then create missing signing keys. Refuses a key file of another database."""
    await migrate(url, MIGRATIONS)
    engine = create_app_engine(url)
    try:
        async with engine.begin() as db:
            await ensure_keys(db, encryptor, at=clock.now(), products=PRODUCTS)
            await load_signing_keys(db, encryptor)
    finally:
        await engine.dispose()
