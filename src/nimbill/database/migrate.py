"""Database migrations: upgrades a database to the newest revision and reports whether it is.

Most processes find a database that is up to date. Alembic is imported only to change one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from asyncpg import PostgresError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import (
    APP_ROLE,
    create_owner_engine,
    ddl,
    describe_database_error,
    is_lock_conflict,
)
from nimbill.foundation.errors import OperatorError

if TYPE_CHECKING:
    from alembic.config import Config

T = TypeVar("T")

OLDEST_VERSION = 15

# Key of the advisory lock. Every release must use the same number.
_MIGRATION_LOCK = 7_241_996_331
_MIGRATION_LOCK_POLL_SECONDS = 0.2

# While a migration waits for a table, all requests for the table wait behind it. Therefore it gives
# up after this time, lets them pass, and tries again.
LOCK_TIMEOUT = "2s"
LOCK_ATTEMPTS_MAX = 30
LOCK_PAUSE_SECONDS = 1.0

_REVISION_FILE = re.compile(r"[0-9]{4}_\w+\.pyc?$")


@dataclass(frozen=True, slots=True)
class MigrationPackage:
    """A package with Alembic revisions in `versions`, and the table that stores its revision."""

    name: str
    version_table: str


PRODUCT_MIGRATIONS = MigrationPackage("nimbill.database.migrations", "alembic_version")


class MigrationError(OperatorError):
    """The database cannot be migrated; the message tells the operator why."""


class SchemaState(Enum):
    empty = "empty"
    older = "older"
    current = "current"
    newer = "newer"  # it has a revision that this program does not know


NEWER_SCHEMA = (
    "The database was migrated by a newer version of Nimbill. Install that version, or restore a "
    "backup from before the migration."
)
# Why a command that only reads refuses the database.
_UNUSABLE_SCHEMAS = {
    SchemaState.empty: (
        "The database has no tables yet. Create an organisation with `nimbill init`."
    ),
    SchemaState.older: (
        "The database has the schema of an older version of Nimbill, and this command does not "
        "change it. Start `nimbill serve`, which migrates it."
    ),
    SchemaState.newer: NEWER_SCHEMA,
}


async def migrate(url: str, packages: Sequence[MigrationPackage]) -> None:
    """Upgrade each package in order, as the database's owner, each revision in a transaction.

    Concurrent callers wait for each other. A later package may depend on an earlier one. Services
    may use the database meanwhile: no table stays locked from one revision to the next.
    """

    def upgrade(connection: sa.Connection) -> None:
        state = find_schema_state(connection, packages)
        if state is SchemaState.newer:
            raise MigrationError(NEWER_SCHEMA)
        if state is SchemaState.current:
            return
        connection.commit()  # else Alembic would run all revisions in this transaction
        for package in packages:
            _upgrade(package, connection)
            connection.commit()

    await _run_as_owner(url, upgrade)


async def require_empty_database(url: str) -> None:
    """Raise MigrationError if the database contains tables."""
    await _run_as_owner(url, _require_no_tables)


def _require_no_tables(connection: sa.Connection) -> None:
    if sa.inspect(connection).get_table_names():
        raise MigrationError("The database contains tables. Use an empty database.")


async def create_and_load_schema(
    url: str,
    packages: Sequence[MigrationPackage],
    revisions: Mapping[str, str],
    load: Callable[[Any], Awaitable[None]],
) -> None:
    """Create the schema of these revisions, load rows into it, then upgrade it; one transaction.

    `revisions` are by version table. `load` receives the driver's connection. Raises MigrationError
    if the database contains tables.
    """

    def run(connection: sa.Connection) -> None:
        _require_no_tables(connection)
        for package in packages:
            if package.version_table in revisions:
                revision = revisions[package.version_table]
                _upgrade(package, connection, revision)
        driver: Any = connection.connection.dbapi_connection
        driver.run_async(load)
        for package in packages:
            _upgrade(package, connection)

    await _run_as_owner(url, run)


def is_known_revision(package: MigrationPackage, revision: str) -> bool:
    """Whether this program contains the revision; a newer program may have others."""
    return revision in _list_revisions(package)


@cache
def _list_revisions(package: MigrationPackage) -> tuple[str, ...]:
    """The revisions that this program contains, newest first: the numbers in its file names."""
    names = (path.name for path in files(package.name).joinpath("versions").iterdir())
    return tuple(sorted((name[:4] for name in names if _REVISION_FILE.match(name)), reverse=True))


async def require_current_schema(url: str, packages: Sequence[MigrationPackage]) -> None:
    """Refuse a database that is not up to date, without changing it."""

    async def find_state(db: AsyncConnection) -> SchemaState:
        return await db.run_sync(find_schema_state, packages)

    state = await _connect_as_owner(url, find_state)
    if state is not SchemaState.current:
        raise MigrationError(_UNUSABLE_SCHEMAS[state])


async def has_rows(url: str, table: str) -> bool:
    """Whether the table exists and contains a row. `table` is a name of this program."""

    async def query(db: AsyncConnection) -> bool:
        exists = await db.execute(sa.select(sa.func.to_regclass(table).is_not(None)))
        if not exists.scalar_one():
            return False
        row = await db.execute(
            sa.select(sa.select(sa.literal(1)).select_from(sa.table(table)).exists())
        )
        return bool(row.scalar_one())

    return await _connect_as_owner(url, query)


def find_schema_state(
    connection: sa.Connection, packages: Sequence[MigrationPackage]
) -> SchemaState:
    """The state of the package that is furthest from the newest revision."""
    revisions = {package: _database_revision(connection, package) for package in packages}
    for package, revision in revisions.items():
        if revision is not None and not is_known_revision(package, revision):
            return SchemaState.newer
    if not any(revisions.values()):
        return SchemaState.empty
    is_current = all(
        revision == _list_revisions(package)[0] for package, revision in revisions.items()
    )
    return SchemaState.current if is_current else SchemaState.older


def _database_revision(connection: sa.Connection, package: MigrationPackage) -> str | None:
    table = package.version_table
    if not connection.execute(sa.select(sa.func.to_regclass(table).is_not(None))).scalar_one():
        return None
    number: sa.ColumnElement[str] = sa.column("version_num", sa.Text)
    return connection.execute(sa.select(number).select_from(sa.table(table))).scalar_one_or_none()


def _upgrade(package: MigrationPackage, connection: sa.Connection, revision: str = "head") -> None:
    from alembic import command

    command.upgrade(_alembic_config(package, connection), revision)


def _alembic_config(package: MigrationPackage, connection: sa.Connection) -> Config:
    from alembic.config import Config

    attributes = {"connection": connection, "version_table": package.version_table}
    config = Config(attributes=attributes)
    config.set_main_option("script_location", "nimbill.database:migrations")
    config.set_main_option("version_locations", f"{package.name}:versions")
    config.set_main_option("path_separator", "newline")
    return config


async def _run_as_owner(url: str, run: Callable[[sa.Connection], None]) -> None:
    engine = create_owner_engine(url)
    async with _disposed(engine):
        await _run_locked(engine, run)


async def _connect_as_owner(url: str, query: Callable[[AsyncConnection], Awaitable[T]]) -> T:
    engine = create_owner_engine(url)
    async with _disposed(engine), engine.connect() as db:
        return await query(db)


@asynccontextmanager
async def _disposed(engine: AsyncEngine) -> AsyncIterator[None]:
    """Dispose of the engine at the end; report a database that cannot be used."""
    try:
        yield
    except (DBAPIError, OSError, PostgresError) as error:
        host = engine.url.host or engine.url.query.get("host") or "the local socket"
        raise MigrationError(
            f"Cannot use the database at {host}: {describe_database_error(error)}"
        ) from error
    finally:
        await engine.dispose()


async def _run_locked(engine: AsyncEngine, run: Callable[[sa.Connection], None]) -> None:
    async with engine.connect() as db:
        await _require_supported_server(db)
        await _wait_for_migration_lock(db)
        try:
            await _create_app_role(db)
            await db.execute(sa.select(sa.func.set_config("lock_timeout", LOCK_TIMEOUT, False)))
            await db.commit()
            await _run_until_unblocked(db, run)
        finally:
            await db.rollback()
            await db.execute(sa.select(sa.func.pg_advisory_unlock(_MIGRATION_LOCK)))


async def _wait_for_migration_lock(db: AsyncConnection) -> None:
    """Ask again and again: a waiting statement would keep a snapshot.

    An index that another process creates concurrently waits for all older snapshots, and so both
    would wait for each other.
    """
    attempt = sa.select(sa.func.pg_try_advisory_lock(_MIGRATION_LOCK))
    while not (await db.execute(attempt)).scalar_one():
        await db.commit()
        await asyncio.sleep(_MIGRATION_LOCK_POLL_SECONDS)
    await db.commit()


async def _run_until_unblocked(db: AsyncConnection, run: Callable[[sa.Connection], None]) -> None:
    """Repeat it after a lock timeout or a deadlock; what was not committed starts again."""
    for attempt in range(1, LOCK_ATTEMPTS_MAX + 1):
        try:
            await db.run_sync(run)
            await db.commit()
        except DBAPIError as error:
            await db.rollback()
            if not is_lock_conflict(error):
                raise
            if attempt == LOCK_ATTEMPTS_MAX:
                raise MigrationError(
                    f"The database cannot be migrated: in {attempt} attempts, another transaction "
                    "kept a table locked, for example that of a backup. Try again after it ended."
                ) from error
            await asyncio.sleep(LOCK_PAUSE_SECONDS)
        else:
            return


async def _require_supported_server(db: AsyncConnection) -> None:
    setting = sa.select(sa.func.current_setting("server_version_num"))
    version = int((await db.execute(setting)).scalar_one())
    if version < OLDEST_VERSION * 10_000:
        raise MigrationError(
            f"PostgreSQL {version // 10_000} is too old; Nimbill needs {OLDEST_VERSION} or newer."
        )


_roles = sa.table("pg_roles", sa.column("oid"), sa.column("rolname"))
_IS_MEMBER = sa.select(sa.func.pg_has_role(sa.func.current_user(), _roles.c.oid, "MEMBER")).where(
    _roles.c.rolname == APP_ROLE
)


async def _create_app_role(db: AsyncConnection) -> None:
    """Create the role that requests run as. All databases of a server share it."""
    is_member = (await db.execute(_IS_MEMBER)).scalar_one_or_none()
    try:
        if is_member is None:
            await db.execute(ddl(f"CREATE ROLE {APP_ROLE} NOLOGIN"))
        if not is_member:
            await db.execute(ddl(f"GRANT {APP_ROLE} TO CURRENT_USER"))
        await db.execute(ddl(f"GRANT USAGE ON SCHEMA public TO {APP_ROLE}"))
        await db.commit()
    except DBAPIError as error:
        await db.rollback()
        if not await _was_created_concurrently(db):
            raise MigrationError(
                f"The database's owner is not allowed to create the role {APP_ROLE}. Run as a "
                f"superuser: CREATE ROLE {APP_ROLE} NOLOGIN; GRANT {APP_ROLE} TO <owner>;"
            ) from error


async def _was_created_concurrently(db: AsyncConnection) -> bool:
    """Whether a migration of another database on this server has created the role meanwhile."""
    is_member = (await db.execute(_IS_MEMBER)).scalar_one_or_none()
    await db.commit()
    return bool(is_member)
