"""Makes the database fail at the n-th statement of a request, with an error of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import sqlalchemy as sa

from nimbill.database import tenant_scope
from nimbill.database.embedded_postgres import Address
from tests.running_service import Service
from tests.temporary_database import execute_script, execute_sql

# what PostgreSQL calls the troubles of its disk and its machine
SQLSTATES = {
    "disk full": "53100",
    "out of memory": "53200",
    "too many open files": "53000",
    "input or output error": "58030",
}

# set in the thread of the request and inherited by its task, so that the job loop is not affected
_in_request: ContextVar[bool] = ContextVar("in_request", default=False)


@dataclass
class StatementLog:
    """The statements of a request, and whether one of them failed."""

    statements: list[str] = field(default_factory=list)
    failed: bool = False


@contextmanager
def failing_at(service: Service, number: int | None, sqlstate: str) -> Iterator[StatementLog]:
    """Let the n-th statement of this thread fail once; with None only count the statements."""
    engine = service.resources.engine.sync_engine
    log = StatementLog()
    fail = f"DO $$ BEGIN RAISE EXCEPTION 'the test' USING ERRCODE = '{sqlstate}'; END $$"

    def on_statement(_db: Any, _c: Any, statement: str, values: Any, _x: Any, many: bool) -> Any:
        if not _in_request.get() or log.failed:
            return statement, values
        log.statements.append(statement)
        log.failed = len(log.statements) == number
        return (fail, [()] if many else ()) if log.failed else (statement, values)

    fetch_with_driver = tenant_scope._fetch_with_driver

    def on_driver_statement(db: sa.Connection, statement: str, values: tuple[object, ...]) -> Any:
        """Also count statements sent to the driver directly, which raise no SQLAlchemy event."""
        return fetch_with_driver(db, *on_statement(db, None, statement, values, None, False))

    sa.event.listen(engine, "before_cursor_execute", on_statement, retval=True)
    token = _in_request.set(True)
    try:
        with patch.object(tenant_scope, "_fetch_with_driver", on_driver_statement):
            yield log
    finally:
        _in_request.reset(token)
        sa.event.remove(engine, "before_cursor_execute", on_statement)


@contextmanager
def full_disk(superuser: Address, *, at_commit: bool) -> Iterator[None]:
    """Inside, the disk of the database is full: the insert fails, or the commit."""
    kind = "CONSTRAINT TRIGGER" if at_commit else "TRIGGER"
    when = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    execute_script(
        superuser,
        f"""
        CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE {kind} disk_is_full AFTER INSERT ON exports
            {when} FOR EACH ROW EXECUTE FUNCTION disk_is_full();
        """,
    )
    try:
        yield
    finally:
        execute_sql(superuser, "DROP FUNCTION disk_is_full CASCADE")
