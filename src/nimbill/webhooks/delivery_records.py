"""Queries on deliveries: which of them are due, what became of them, and sending them again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.list_query import ListColumns, ListQuery, Page, fetch_page
from nimbill.database.tenant_scope import Row, TenantScope, of_tenant
from nimbill.webhooks.bodies import DeliveryError, EventState
from nimbill.webhooks.records import webhook_deliveries, webhook_events

_deliveries = webhook_deliveries.c


def _belong_to_endpoint(scope: TenantScope, endpoint_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(webhook_deliveries, scope), _deliveries.endpoint_id == endpoint_id]


def _select_next_of_objects(scope: TenantScope, endpoint_id: str) -> sa.Subquery:
    """The oldest unfinished delivery of each object; those after it have to wait for it."""
    return (
        sa.select(webhook_deliveries)
        .ext(distinct_on(_deliveries.object))
        .where(
            *_belong_to_endpoint(scope, endpoint_id),
            _deliveries.state == EventState.waiting,
        )
        .order_by(_deliveries.object, _deliveries.event_time, _deliveries.delivery_id)
        .subquery()
    )


async def list_due_deliveries(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, *, at: datetime, limit: int
) -> Sequence[Row]:
    """List what may be sent now, at most one delivery of each object, oldest first."""
    first = _select_next_of_objects(scope, endpoint_id)
    stmt = (
        sa.select(first.c.delivery_id, first.c.event_id, first.c.attempts, webhook_events.c.payload)
        .join(
            webhook_events,
            (webhook_events.c.organisation_id == first.c.organisation_id)
            & (webhook_events.c.event_id == first.c.event_id),
        )
        .where(of_tenant(first, scope), first.c.next_attempt_time <= at)
        .order_by(first.c.event_time, first.c.delivery_id)
        .limit(limit)
    )
    return (await db.execute(stmt)).all()


async def find_next_due(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str
) -> datetime | None:
    """Return when the next delivery may be sent, or None if none is waiting."""
    first = _select_next_of_objects(scope, endpoint_id)
    stmt = sa.select(sa.func.min(first.c.next_attempt_time)).where(of_tenant(first, scope))
    due: datetime | None = (await db.execute(stmt)).scalar_one()
    return due


async def record_attempt(
    db: AsyncConnection, scope: TenantScope, delivery_id: str, *, attempt: int, **values: Any
) -> bool:
    """Store the outcome of this attempt. Return False if another process was faster."""
    stmt = (
        sa.update(webhook_deliveries)
        .where(
            of_tenant(webhook_deliveries, scope),
            _deliveries.delivery_id == delivery_id,
            _deliveries.state == EventState.waiting,
            _deliveries.attempts == attempt - 1,
        )
        .values(attempts=attempt, **values)
    )
    return bool((await db.execute(stmt)).rowcount)


async def fail_waiting_deliveries(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str
) -> None:
    """Give up what waits for an endpoint that is disabled."""
    await db.execute(
        sa.update(webhook_deliveries)
        .where(
            *_belong_to_endpoint(scope, endpoint_id),
            _deliveries.state == EventState.waiting,
        )
        .values(
            state=EventState.failed,
            next_attempt_time=None,
            last_error=DeliveryError.endpoint_disabled,
        )
    )


_COLUMNS = ListColumns(
    table=webhook_deliveries,
    order=[_deliveries.event_time.desc(), _deliveries.delivery_id],
    searched=[],
    sortable={},
)


async def list_deliveries(
    db: AsyncConnection,
    scope: TenantScope,
    endpoint_id: str,
    query: ListQuery,
    state: EventState | None,
) -> Page:
    """The newest event first."""
    stmt = (
        sa.select(webhook_deliveries, webhook_events.c.event_type)
        .join(
            webhook_events,
            (webhook_events.c.organisation_id == _deliveries.organisation_id)
            & (webhook_events.c.event_id == _deliveries.event_id),
        )
        .where(*_belong_to_endpoint(scope, endpoint_id))
    )
    if state is not None:
        stmt = stmt.where(_deliveries.state == state)
    return await fetch_page(db, scope, stmt, _COLUMNS, query)


async def replay_delivery(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, delivery_id: str, *, at: datetime
) -> bool:
    """Send the event again; one that is waiting is sent sooner. False if there is none."""
    stmt = (
        sa.update(webhook_deliveries)
        .where(*_belong_to_endpoint(scope, endpoint_id), _deliveries.delivery_id == delivery_id)
        .values(
            attempts=sa.case(
                (_deliveries.state == EventState.waiting, _deliveries.attempts), else_=0
            ),
            state=EventState.waiting,
            next_attempt_time=at,
        )
    )
    return bool((await db.execute(stmt)).rowcount)


async def replay_failed_deliveries(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, *, since: datetime, at: datetime
) -> int:
    """Send the failed deliveries of events since this time again. Return their number."""
    stmt = (
        sa.update(webhook_deliveries)
        .where(
            *_belong_to_endpoint(scope, endpoint_id),
            _deliveries.state == EventState.failed,
            _deliveries.event_time >= since,
        )
        .values(state=EventState.waiting, attempts=0, next_attempt_time=at)
    )
    return int((await db.execute(stmt)).rowcount)
