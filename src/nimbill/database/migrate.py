"""Brings a database up to date; two processes that try at once take turns."""

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from asyncpg import PostgresError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.database.tenant_scope import APP_ROLE, owner_engine

OLDEST_VERSION = 15

# any number will do, as long as every version of Nimbill uses the same one
_MIGRATION_LOCK = 7_241_996_331


class MigrationError(Exception):
    """The database cannot be brought up to date; the message says what its operator can do."""


async def migrate(url: str, revision: str = "head") -> None:
    """Apply what is missing, as the owner of the database, in one transaction."""
    engine = owner_engine(url)
    try:
        await _migrate(engine, revision)
    except (DBAPIError, OSError, PostgresError) as error:
        where = engine.url.host or engine.url.query.get("host") or "the local socket"
        raise MigrationError(f"the database at {where} cannot be used: {_reason(error)}") from error
    finally:
        await engine.dispose()


async def _migrate(engine: AsyncEngine, revision: str) -> None:
    async with engine.connect() as db:
        await _refuse_old_server(db)
        await db.execute(sa.select(sa.func.pg_advisory_lock(_MIGRATION_LOCK)))
        await db.commit()
        try:
            await _make_app_role(db)
            await db.run_sync(_run, revision)
            await db.commit()
        finally:
            await db.rollback()
            await db.execute(sa.select(sa.func.pg_advisory_unlock(_MIGRATION_LOCK)))


def _reason(error: BaseException) -> str:
    """The driver's own words, without the statement and its values."""
    said = error
    if isinstance(error, DBAPIError) and error.orig is not None:
        said = error.orig.__cause__ or error.orig
    words = said.strerror if isinstance(said, OSError) and said.strerror else str(said)
    return " ".join(words.split()) or type(said).__name__


async def _refuse_old_server(db: AsyncConnection) -> None:
    version = int((await db.execute(sa.text("SHOW server_version_num"))).scalar_one())
    if version < OLDEST_VERSION * 10_000:
        raise MigrationError(
            f"PostgreSQL {version // 10_000} is too old; Nimbill needs {OLDEST_VERSION} or newer"
        )


def _run(connection: sa.Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "nimbill.database:migrations")
    config.attributes["connection"] = connection
    if revision == "base":
        command.downgrade(config, revision)
    else:
        command.upgrade(config, revision)


async def _make_app_role(db: AsyncConnection) -> None:
    """The role requests run as; made once for all databases of a server."""
    member = sa.text(
        "SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = :role"
    )
    is_member = (await db.execute(member, {"role": APP_ROLE})).scalar_one_or_none()
    try:
        if is_member is None:
            await db.execute(sa.text(f"CREATE ROLE {APP_ROLE} NOLOGIN"))
        if not is_member:
            await db.execute(sa.text(f"GRANT {APP_ROLE} TO CURRENT_USER"))
        await db.execute(sa.text(f"GRANT USAGE ON SCHEMA public TO {APP_ROLE}"))
        await db.commit()
    except DBAPIError as error:
        await db.rollback()
        if not await _made_meanwhile(db, member):
            raise MigrationError(
                f"the database's owner may not make the role {APP_ROLE}; as a superuser run: "
                f"CREATE ROLE {APP_ROLE} NOLOGIN; GRANT {APP_ROLE} TO <owner>;"
            ) from error


async def _made_meanwhile(db: AsyncConnection, member: sa.TextClause) -> bool:
    """Another database of the same server may have made the role at the same moment."""
    found = (await db.execute(member, {"role": APP_ROLE})).scalar_one_or_none()
    await db.commit()
    return bool(found)


def current_and_newest(connection: sa.Connection) -> tuple[str | None, str | None]:
    """The revision of the database and the one this version of Nimbill needs."""
    config = Config()
    config.set_main_option("script_location", "nimbill.database:migrations")
    newest = ScriptDirectory.from_config(config).get_current_head()
    return MigrationContext.configure(connection).get_current_revision(), newest
