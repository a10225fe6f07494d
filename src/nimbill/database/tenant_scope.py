"""PostgreSQL: tables, connections, and the organisation set on every transaction."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Unavailable

basis = chosen("foreign-records")

Row = sa.Row[*tuple[Any, ...]]

# the role every request runs as: it owns nothing, so row-level security binds it
APP_ROLE = "nimbill_app"

metadata = sa.MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)


@dataclass(frozen=True, slots=True)
class TenantScope:
    """Whose records: one organisation and, where filters narrow it, some of its billing groups."""

    organisation_id: str
    billing_groups: frozenset[str] | None = None  # company_id; None = all of them


def visible_rows(column: sa.ColumnElement[str], ids: Collection[str]) -> sa.ColumnElement[bool]:
    """One parameter however many ids there are: a statement takes no more than 32,767."""
    return column == sa.func.any(sa.literal(list(ids), ARRAY(sa.Text)))


def engine_for(url: str, pool_size: int = 5) -> AsyncEngine:
    """Connections as the role that owns nothing; `owner_engine` is for migrations alone."""
    engine = create_async_engine(
        _with_driver(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=5,
        hide_parameters=True,  # what callers sent stays out of error messages, and so of logs
        connect_args={
            "timeout": 5,
            "command_timeout": 60,
            "server_settings": {
                "application_name": "nimbill",
                "statement_timeout": "30s",
                "lock_timeout": "10s",
                "idle_in_transaction_session_timeout": "60s",
                "timezone": "UTC",
            },
        },
    )

    @sa.event.listens_for(engine.sync_engine, "connect")
    def make_ready(connection: Any, _record: object) -> None:
        connection.run_async(_read_numbers_as_written)
        cursor = connection.cursor()
        cursor.execute(f"SET ROLE {APP_ROLE}")
        cursor.close()
        connection.commit()

    return engine


async def _read_numbers_as_written(driver: Any) -> None:
    """The driver's own way turns 1000000 into 1.00E+6: equal, but not what was stored."""
    await driver.set_type_codec(
        "numeric", schema="pg_catalog", encoder=str, decoder=Decimal, format="text"
    )


def owner_engine(url: str) -> AsyncEngine:
    return create_async_engine(
        _with_driver(url), poolclass=sa.NullPool, connect_args={"timeout": 10}
    )


def _with_driver(url: str) -> sa.URL:
    """Our driver's words for an address as PostgreSQL's own programs take it."""
    address = sa.make_url(url).set(drivername="postgresql+asyncpg")
    if "sslmode" not in address.query:
        return address
    tls = str(address.query["sslmode"])
    return address.difference_update_query(["sslmode"]).update_query_dict({"ssl": tls})


_ACT_FOR = "SELECT set_config('nimbill.organisation', $1, true)"


async def set_tenant(db: AsyncConnection, organisation_id: str) -> None:
    """From here to the end of the transaction only this organisation's rows exist."""
    await fetch_row(db, _ACT_FOR, organisation_id)


@asynccontextmanager
async def transaction(engine: AsyncEngine, organisation_id: str) -> AsyncIterator[AsyncConnection]:
    """A transaction on one organisation's rows: committed at the end, rolled back on an error."""
    async with engine.begin() as db:
        await set_tenant(db, organisation_id)
        yield db


async def fetch_row(db: AsyncConnection, question: str, *values: object) -> Any:
    """The one row of a question that every request asks, in the driver's own words ($1, $2 …).

    It is asked in the transaction of `db`, past the layers that cost more than the question.
    """
    return await db.run_sync(_ask_driver, question, values)


def _ask_driver(connection: sa.Connection, question: str, values: tuple[object, ...]) -> Any:
    if not connection.in_transaction():
        connection.begin()
    cursor = connection.connection.cursor()
    try:
        cursor.execute(question, values)
        return cursor.fetchone()
    except connection.dialect.loaded_dbapi.Error as error:
        driver = connection.connection.dbapi_connection
        if connection.dialect.is_disconnect(error, driver, cursor):
            # asked the usual way, it fails again and the whole pool learns of it
            connection.exec_driver_sql("SELECT 1")
        kind = IntegrityError if isinstance(error, _constraint(connection)) else DBAPIError
        raise kind(question, None, error, hide_parameters=True) from error
    except BaseException:
        connection.invalidate()  # given up half way: nobody knows what it will say next
        raise


def _constraint(connection: sa.Connection) -> type[Exception]:
    broken: type[Exception] = connection.dialect.loaded_dbapi.IntegrityError
    return broken


def is_database_unavailable(error: BaseException) -> bool:
    """Whether the trouble is the database's being away, slow or full, not the request."""
    if isinstance(error, DBAPIError):
        state = str(getattr(error.orig, "sqlstate", "") or "")
        busy = state in ("40001", "40P01", "55P03")  # others were in the way: to be tried again
        return error.connection_invalidated or busy or state[:2] in ("08", "53", "57", "58")
    return isinstance(error, PoolTimeout | ConnectionError | TimeoutError | OSError)


def unavailable() -> Unavailable:
    return Unavailable("database_away", "the database cannot be reached", retry_after=2)
