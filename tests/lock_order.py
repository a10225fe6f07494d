"""Fails a test whose transaction publishes an event after its audit entry.

An event locks endpoints and jobs, an audit entry locks the head of the organisation's chain. Two
transactions that do this in different orders can wait for each other for ever.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.webhooks import records as webhooks

Query = Callable[..., Awaitable[Any]]


@contextmanager
def events_come_before_audit_entries() -> Iterator[None]:
    """Every transaction has a connection object of its own."""
    audited: WeakSet[AsyncConnection] = WeakSet()

    def note(append: Query) -> Query:
        async def append_and_note(db: AsyncConnection, *args: Any, **values: Any) -> None:
            await append(db, *args, **values)
            audited.add(db)

        return append_and_note

    def check(lock: Query) -> Query:
        async def check_and_lock(db: AsyncConnection, *args: Any, **values: Any) -> Any:
            assert db not in audited, "publish the event before the audit entry"
            return await lock(db, *args, **values)

        return check_and_lock

    with pytest.MonkeyPatch.context() as patch:
        for name in ("append_entry", "append_entries"):
            patch.setattr(audit, name, note(getattr(audit, name)))
        for name in ("lock_subscribed_endpoints", "lock_endpoint"):
            patch.setattr(webhooks, name, check(getattr(webhooks, name)))
        yield
