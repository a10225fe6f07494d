"""Database migrations: upgrades a database to the newest revision and reports whether it is."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from asyncpg import PostgresError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import (
    APP_ROLE,
    create_owner_engine,
    describe_database_error,
)
from nimbill.foundation.errors import OperatorError

OLDEST_VERSION = 15

# Key of the advisory lock. Every release must use the same number.
_MIGRATION_LOCK = 7_241_996_331


@dataclass(frozen=True, slots=True)
class MigrationPackage:
    """A package with Alembic revisions in `versions`, and the table that stores its revision."""

    name: str
    version_table: str


PRODUCT_MIGRATIONS = MigrationPackage("nimbill.database.migrations", "alembic_version")


class MigrationError(OperatorError):
    """The database cannot be migrated; the message tells the operator why."""


async def migrate(url: str, packages: Sequence[MigrationPackage]) -> None:
    """Upgrade each package in order, as the database's owner, in one transaction.

    Concurrent callers wait for each other. A later package may depend on an earlier one.
    """

    def upgrade(connection: sa.Connection) -> None:
        for package in packages:
            command.upgrade(_alembic_config(package, connection), "head")

    await _run_as_owner(url, upgrade)


async def drop_schema(url: str, packages: Sequence[MigrationPackage]) -> None:
    """Undo every migration, last package first; all data is lost."""

    def downgrade(connection: sa.Connection) -> None:
        for package in reversed(packages):
            command.downgrade(_alembic_config(package, connection), "base")

    await _run_as_owner(url, downgrade)


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
                command.upgrade(_alembic_config(package, connection), revision)
        driver: Any = connection.connection.dbapi_connection
        driver.run_async(load)
        for package in packages:
            command.upgrade(_alembic_config(package, connection), "head")

    await _run_as_owner(url, run)


def is_known_revision(package: MigrationPackage, revision: str) -> bool:
    """Whether this program contains the revision; a newer program may have others."""
    scripts = ScriptDirectory.from_config(_alembic_config(package))
    try:
        return scripts.get_revision(revision) is not None
    except CommandError:
        return False


def is_schema_current(connection: sa.Connection, packages: Sequence[MigrationPackage]) -> bool:
    """Whether the database has the newest revision of every package."""
    return all(
        _database_revision(connection, package)
        == ScriptDirectory.from_config(_alembic_config(package)).get_current_head()
        for package in packages
    )


def _database_revision(connection: sa.Connection, package: MigrationPackage) -> str | None:
    options = {"version_table": package.version_table}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def _alembic_config(package: MigrationPackage, connection: sa.Connection | None = None) -> Config:
    attributes = {"connection": connection, "version_table": package.version_table}
    config = Config(attributes=attributes)
    config.set_main_option("script_location", "nimbill.database:migrations")
    config.set_main_option("version_locations", f"{package.name}:versions")
    config.set_main_option("path_separator", "newline")
    return config


async def _run_as_owner(url: str, run: Callable[[sa.Connection], None]) -> None:
    engine = create_owner_engine(url)
    try:
        await _run_locked(engine, run)
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
        await db.execute(sa.select(sa.func.pg_advisory_lock(_MIGRATION_LOCK)))
        await db.commit()
        try:
            await _create_app_role(db)
            await db.run_sync(run)
            await db.commit()
        finally:
            await db.rollback()
            await db.execute(sa.select(sa.func.pg_advisory_unlock(_MIGRATION_LOCK)))


async def _require_supported_server(db: AsyncConnection) -> None:
    version = int((await db.execute(sa.text("SHOW server_version_num"))).scalar_one())
    if version < OLDEST_VERSION * 10_000:
        raise MigrationError(
            f"PostgreSQL {version // 10_000} is too old; Nimbill needs {OLDEST_VERSION} or newer."
        )


async def _create_app_role(db: AsyncConnection) -> None:
    """Create the role that requests run as. All databases of a server share it."""
    membership = sa.text(
        "SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = :role"
    )
    is_member = (await db.execute(membership, {"role": APP_ROLE})).scalar_one_or_none()
    try:
        if is_member is None:
            await db.execute(sa.text(f"CREATE ROLE {APP_ROLE} NOLOGIN"))
        if not is_member:
            await db.execute(sa.text(f"GRANT {APP_ROLE} TO CURRENT_USER"))
        await db.execute(sa.text(f"GRANT USAGE ON SCHEMA public TO {APP_ROLE}"))
        await db.commit()
    except DBAPIError as error:
        await db.rollback()
        if not await _was_created_concurrently(db, membership):
            raise MigrationError(
                f"The database's owner is not allowed to create the role {APP_ROLE}. Run as a "
                f"superuser: CREATE ROLE {APP_ROLE} NOLOGIN; GRANT {APP_ROLE} TO <owner>;"
            ) from error


async def _was_created_concurrently(db: AsyncConnection, membership: sa.TextClause) -> bool:
    """Whether a migration of another database on this server has created the role meanwhile."""
    is_member = (await db.execute(membership, {"role": APP_ROLE})).scalar_one_or_none()
    await db.commit()
    return bool(is_member)
