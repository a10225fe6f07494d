"""Database engine, and transactions that see one tenant's rows only."""

import os
import socket
import sys
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from nimbill.database.fair_pool import TURN_SECONDS_MAX, FairPool, limit_opening
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Unavailable

# See docs/choices.md, foreign-records.

Row = sa.Row[*tuple[Any, ...]]

# The role that requests run as. It owns no table, so row-level security applies to it.
APP_ROLE = "nimbill_app"

_TEXTS = ARRAY(sa.Text)

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
    """The rows a caller may see: one organisation's, and of these only certain billing groups'."""

    organisation_id: str
    billing_groups: frozenset[str] | None = None  # company_ids; None means all


def ddl(stmt: str) -> sa.DDL:
    """A statement that defines something, which SQLAlchemy has no expressions for."""
    return sa.DDL(stmt)  # type: ignore[no-untyped-call]


def of_tenant(table: sa.FromClause, scope: TenantScope) -> sa.ColumnElement[bool]:
    """Whether a row belongs to the organisation, whatever its billing group."""
    return table.c.organisation_id == scope.organisation_id


def of_given_tenant(table: sa.FromClause) -> sa.ColumnElement[bool]:
    """Like `of_tenant`, for a statement that is built once: `organisation_id` is its parameter."""
    return table.c.organisation_id == sa.bindparam("organisation_id")


def of_period(table: sa.FromClause, period: BillingPeriod) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.vendor == period.vendor, table.c.month == period.month)


def is_any_of(
    column: sa.ColumnElement[str], values: Collection[str] | sa.BindParameter[Any]
) -> sa.ColumnElement[bool]:
    """Like IN, but with one parameter: a statement has at most 32,767 parameters."""
    if not isinstance(values, sa.BindParameter):
        values = sa.literal(list(values), _TEXTS)
    return column == sa.func.any(sa.type_coerce(values, _TEXTS))


def create_app_engine(url: str, pool_size: int = 5) -> AsyncEngine:
    """Engine whose connections run as APP_ROLE."""
    engine = create_async_engine(
        _with_driver(url),
        poolclass=FairPool,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=TURN_SECONDS_MAX,
        hide_parameters=True,  # keeps values that callers sent out of error messages and logs
        connect_args={
            "command_timeout": 60,
            "server_settings": {
                "application_name": "nimbill",
                "statement_timeout": "30s",
                "lock_timeout": "10s",
                "idle_in_transaction_session_timeout": "60s",
                "timezone": "UTC",
                # The server ends the transaction of a worker whose machine has vanished.
                "tcp_keepalives_idle": "5",
                "tcp_keepalives_interval": "1",
                "tcp_keepalives_count": "3",
                "tcp_user_timeout": "5s",
            },
        },
    )

    limit_opening(engine)  # a database that does not answer is noticed earlier: ConnectionWatch
    sa.event.listen(engine.sync_engine, "connect", _notice_lost_peer, insert=True)

    @sa.event.listens_for(engine.sync_engine, "connect")
    def prepare_connection(connection: Any, _record: object) -> None:
        connection.run_async(_decode_numbers_exactly)
        cursor = connection.cursor()
        cursor.execute(f"SET ROLE {APP_ROLE}")
        cursor.close()
        connection.commit()

    return engine


def _notice_lost_peer(connection: Any, _record: object) -> None:
    """End a network connection after two seconds without any packet from the other side.

    It is called before SQLAlchemy asks its first questions, whose answers may be lost, too.
    Otherwise the kernel repeats unacknowledged packets for a quarter of an hour. A slow statement
    is not affected: the other side's kernel answers for it.
    """
    transport_socket = connection.driver_connection._transport.get_extra_info("socket")
    if sys.platform != "linux" or transport_socket.family == socket.AF_UNIX:
        return
    with socket.socket(fileno=os.dup(transport_socket.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 2)
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 2000)


async def _decode_numbers_exactly(connection: Any) -> None:
    """asyncpg's own codec returns 1000000 as 1.00E+6; this one keeps the stored digits."""
    await connection.set_type_codec(
        "numeric", schema="pg_catalog", encoder=str, decoder=Decimal, format="text"
    )


def create_owner_engine(url: str) -> AsyncEngine:
    """Engine that runs as the database's owner, for migrations only."""
    return create_async_engine(
        _with_driver(url), poolclass=sa.NullPool, connect_args={"timeout": 10}
    )


def _with_driver(url: str) -> sa.URL:
    """Translate a libpq URL for asyncpg, which calls sslmode `ssl`."""
    address = sa.make_url(url).set(drivername="postgresql+asyncpg")
    if "sslmode" not in address.query:
        return address
    tls = str(address.query["sslmode"])
    return address.difference_update_query(["sslmode"]).update_query_dict({"ssl": tls})


_SET_TENANT = Path(__file__).with_name("set_tenant.sql").read_text()


async def set_tenant(db: AsyncConnection, organisation_id: str) -> None:
    """Show only this organisation's rows until the transaction ends."""
    await fetch_row(db, _SET_TENANT, organisation_id)


@asynccontextmanager
async def transaction(engine: AsyncEngine, organisation_id: str) -> AsyncIterator[AsyncConnection]:
    """A transaction for one organisation: commits at the end, rolls back on an error."""
    async with engine.begin() as db:
        await set_tenant(db, organisation_id)
        yield db


async def fetch_row(db: AsyncConnection, stmt: str, *values: object) -> Any:
    """Execute a statement of a .sql file ($1, $2 …) and return its first row as a tuple.

    It runs in the transaction of `db`, but without the overhead of SQLAlchemy's statement layer.
    Only for the gate, which every request passes, and for the audit log; see decision 0032.
    """
    rows = await db.run_sync(_fetch_with_driver, stmt, values)
    return rows[0] if rows else None


def _fetch_with_driver(
    connection: sa.Connection, stmt: str, values: tuple[object, ...]
) -> Sequence[Any]:
    if not connection.in_transaction():
        connection.begin()
    cursor = connection.connection.cursor()
    try:
        cursor.execute(stmt, values)
        rows: Sequence[Any] = cursor.fetchall()
        return rows
    except connection.dialect.loaded_dbapi.Error as error:
        driver = connection.connection.dbapi_connection
        if connection.dialect.is_disconnect(error, driver, cursor):
            # Fails again, but through SQLAlchemy, which then invalidates the whole pool.
            connection.exec_driver_sql("SELECT 1")
        integrity_error = connection.dialect.loaded_dbapi.IntegrityError
        error_class = IntegrityError if isinstance(error, integrity_error) else DBAPIError
        raise error_class(stmt, None, error, hide_parameters=True) from error
    except BaseException:
        connection.invalidate()  # cancelled while a response is outstanding
        raise


# Classes of SQLSTATE: connection, resources, operator intervention, system.
_UNAVAILABLE_STATES = ("08", "53", "57", "58")


def is_database_unavailable(error: BaseException) -> bool:
    """Whether the database is down, overloaded or full, or had a lock conflict."""
    if isinstance(error, DBAPIError):
        return (
            error.connection_invalidated
            or is_lock_conflict(error)
            or _sql_state(error)[:2] in _UNAVAILABLE_STATES
            or _is_ending(error)
        )
    if isinstance(error, asyncpg.PostgresError):
        return str(error.sqlstate)[:2] in _UNAVAILABLE_STATES
    # SQLAlchemy does not translate the driver's errors while a connection is being prepared.
    lost = PoolTimeout | ConnectionError | TimeoutError | OSError | asyncpg.InterfaceError
    return isinstance(error, lost)


def _is_ending(error: DBAPIError) -> bool:
    """Whether the server is ending the connection, which the driver does not expect yet."""
    cause = error.orig.__cause__ if error.orig is not None else None
    return isinstance(cause, asyncpg.InternalClientError)


def is_lock_conflict(error: DBAPIError) -> bool:
    """Whether it was a serialization failure, a deadlock or a lock timeout; repeating may help."""
    return _sql_state(error) in ("40001", "40P01", "55P03")


def _sql_state(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", "") or "")


def describe_database_error(error: BaseException) -> str:
    """The driver's message on one line, without the SQL statement and its parameters."""
    cause = error
    if isinstance(error, DBAPIError) and error.orig is not None:
        cause = error.orig.__cause__ or error.orig
    message = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return " ".join(message.split()) or type(cause).__name__


def database_unavailable() -> Unavailable:
    return Unavailable(
        "database_away",
        "The database cannot be reached or is overloaded. Try again later.",
        retry_after=2,
    )
