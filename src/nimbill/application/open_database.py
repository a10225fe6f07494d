"""Opens the configured or the embedded database and brings it up to date."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.access.key_rotation import ensure_keys
from nimbill.access.signing_keys import load_signing_keys
from nimbill.application.installed import PRODUCTS
from nimbill.application.migration_packages import MIGRATIONS
from nimbill.database.embedded_postgres import embedded_postgres, has_cluster
from nimbill.database.migrate import has_rows, migrate, require_current_schema
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation import clock
from nimbill.foundation.encryption import (
    Encryptor,
    is_key_missing,
    load_key,
    load_or_create_key,
)
from nimbill.foundation.errors import OperatorError
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


@contextmanager
def open_existing_database(settings: Settings) -> Iterator[str]:
    """Like `open_database`, but refuse to create an embedded database."""
    if settings.database_url is None and not has_cluster(settings.data / "postgres"):
        raise OperatorError(
            f"There is no database in {settings.data}. Create an organisation with `nimbill init`, "
            "or set NIMBILL_DATA or NIMBILL_DATABASE_URL."
        )
    with open_database(settings) as url:
        yield url


def run_with_database(
    settings: Settings,
    operation: Callable[[str, Encryptor], Coroutine[Any, Any, T]],
    *,
    migrates: bool = True,
) -> T:
    """Run one operation with the database's URL.

    Commands that only read pass `migrates=False`: they create and change no schema and no key.
    """

    async def run(url: str) -> T:
        if migrates:
            encryptor = await prepare_installation(url, settings.key_file)
        else:
            await require_current_schema(url, MIGRATIONS)
            encryptor = load_key(settings.key_file)
        return await operation(url, encryptor)

    open_ = open_database if migrates else open_existing_database
    with open_(settings) as url:
        return asyncio.run(run(url))


def run_with_engine(
    settings: Settings,
    operation: Callable[[AsyncEngine, Encryptor], Coroutine[Any, Any, T]],
    *,
    migrates: bool = True,
) -> T:
    """Like `run_with_database`, with an engine."""

    async def run(url: str, encryptor: Encryptor) -> T:
        engine = create_app_engine(url)
        try:
            return await operation(engine, encryptor)
        finally:
            await engine.dispose()

    return run_with_database(settings, run, migrates=migrates)


async def prepare_installation(url: str, key_file: Path) -> Encryptor:
    """Load or create the key, then prepare the database.

    A key is never created for a database that another key encrypts. The file is looked for again
    because another process may have created both in between, the key first.
    """
    if is_key_missing(key_file) and await has_rows(url, "signing_keys"):
        encryptor = load_key(key_file)
    else:
        encryptor = load_or_create_key(key_file)
    await prepare_database(url, encryptor)
    return encryptor


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
