"""Tables of webhooks, and the queries on endpoints and events."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.advisory_lock import advisory_lock
from nimbill.database.tenant_scope import Row, TenantScope, metadata, of_tenant
from nimbill.webhooks.bodies import EventState

webhook_endpoints = sa.Table(
    "webhook_endpoints",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("endpoint_id", sa.Text, primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("event_types", ARRAY(sa.Text), nullable=False),
    sa.Column("enabled", sa.Boolean, nullable=False),
    sa.Column("disabled_reason", sa.Text),
    sa.Column("encrypted_secret", sa.LargeBinary, nullable=False),
    sa.Column("encrypted_previous_secret", sa.LargeBinary),
    sa.Column("previous_secret_until", sa.DateTime(timezone=True)),
    sa.Column("create_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("update_time", sa.DateTime(timezone=True), nullable=False),
)

webhook_events = sa.Table(
    "webhook_events",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("event_id", sa.Text, primary_key=True),
    sa.Column("event_type", sa.Text, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("event_time", sa.DateTime(timezone=True), nullable=False),
)

webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("organisation_id", sa.Text, primary_key=True),
    sa.Column("delivery_id", sa.Text, primary_key=True),
    sa.Column("endpoint_id", sa.Text, nullable=False),
    sa.Column("event_id", sa.Text, nullable=False),
    sa.Column("object", sa.Text, nullable=False),
    sa.Column("event_time", sa.DateTime(timezone=True), nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_attempt_time", sa.DateTime(timezone=True)),
    sa.Column("last_attempt_time", sa.DateTime(timezone=True)),
    sa.Column("last_status", sa.Integer),
    sa.Column("last_error", sa.Text),
)
_endpoints = webhook_endpoints.c


@dataclass(frozen=True, slots=True)
class NewEvent:
    event_id: str
    event_type: str
    payload: str
    event_time: datetime


@dataclass(frozen=True, slots=True)
class NewDelivery:
    delivery_id: str
    endpoint_id: str
    event_id: str
    object: str
    event_time: datetime


def _is_endpoint(scope: TenantScope, endpoint_id: str) -> list[sa.ColumnElement[bool]]:
    return [of_tenant(webhook_endpoints, scope), _endpoints.endpoint_id == endpoint_id]


# ── endpoints ────────────────────────────────────────────────────────────────────────────────────


async def list_endpoints(db: AsyncConnection, scope: TenantScope) -> Sequence[Row]:
    """The oldest first; empty for users restricted to certain billing groups."""
    if scope.billing_groups is not None:
        return []
    stmt = (
        sa.select(webhook_endpoints)
        .where(of_tenant(webhook_endpoints, scope))
        .order_by(_endpoints.create_time, _endpoints.endpoint_id)
    )
    return (await db.execute(stmt)).all()


async def find_endpoint(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> Row | None:
    """Users restricted to certain billing groups see no endpoint."""
    if scope.billing_groups is not None:
        return None
    stmt = sa.select(webhook_endpoints).where(*_is_endpoint(scope, endpoint_id))
    return (await db.execute(stmt)).one_or_none()


async def lock_endpoint(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> Row | None:
    """Wait for transactions that write events for the endpoint, and keep out new ones."""
    stmt = sa.select(webhook_endpoints).where(*_is_endpoint(scope, endpoint_id))
    return (await db.execute(stmt.with_for_update())).one_or_none()


async def try_lock_endpoint(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> bool:
    """Lock like `lock_endpoint`, or return False if somebody else uses the endpoint now."""
    stmt = sa.select(_endpoints.endpoint_id).where(*_is_endpoint(scope, endpoint_id))
    locked = await db.execute(stmt.with_for_update(skip_locked=True))
    return locked.one_or_none() is not None


async def lock_all_endpoints(db: AsyncConnection, scope: TenantScope) -> int:
    """Keep other requests from adding endpoints at the same time, and count those there are."""
    await advisory_lock(db, f"webhook endpoints {scope.organisation_id}")
    stmt = (
        sa.select(sa.func.count())
        .select_from(webhook_endpoints)
        .where(of_tenant(webhook_endpoints, scope))
    )
    return int((await db.execute(stmt)).scalar_one())


async def lock_subscribed_endpoints(
    db: AsyncConnection, scope: TenantScope, event_types: Collection[str]
) -> Sequence[Row]:
    """Return the endpoints that want one of these events, and the time of the database.

    The shared lock keeps a delivery job from ending before it sees the new events.
    """
    time = sa.func.clock_timestamp().label("time")
    stmt = (
        sa.select(_endpoints.endpoint_id, _endpoints.event_types, time)
        .where(
            of_tenant(webhook_endpoints, scope),
            _endpoints.enabled,
            sa.or_(
                sa.func.cardinality(_endpoints.event_types) == 0,
                _endpoints.event_types.overlap(list(event_types)),
            ),
        )
        .order_by(_endpoints.endpoint_id)
        .with_for_update(read=True)
    )
    return (await db.execute(stmt)).all()


async def add_endpoint(
    db: AsyncConnection,
    scope: TenantScope,
    endpoint_id: str,
    encrypted_secret: bytes,
    fields: Mapping[str, Any],
) -> None:
    await db.execute(
        sa.insert(webhook_endpoints).values(
            organisation_id=scope.organisation_id,
            endpoint_id=endpoint_id,
            encrypted_secret=encrypted_secret,
            **fields,
        )
    )


async def change_endpoint(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, at: datetime, **values: Any
) -> None:
    await db.execute(
        sa.update(webhook_endpoints)
        .where(*_is_endpoint(scope, endpoint_id))
        .values(**values, update_time=at)
    )


async def delete_endpoint(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> None:
    await db.execute(sa.delete(webhook_endpoints).where(*_is_endpoint(scope, endpoint_id)))


async def delete_expired_secrets(db: AsyncConnection, scope: TenantScope, *, at: datetime) -> None:
    await db.execute(
        sa.update(webhook_endpoints)
        .where(of_tenant(webhook_endpoints, scope), _endpoints.previous_secret_until <= at)
        .values(encrypted_previous_secret=None, previous_secret_until=None)
    )


# ── events ───────────────────────────────────────────────────────────────────────────────────────


async def add_events(db: AsyncConnection, scope: TenantScope, events: Sequence[NewEvent]) -> None:
    rows = [{"organisation_id": scope.organisation_id, **asdict(event)} for event in events]
    await db.execute(sa.insert(webhook_events), rows)


async def add_deliveries(
    db: AsyncConnection, scope: TenantScope, deliveries: Sequence[NewDelivery], *, at: datetime
) -> None:
    """Add deliveries that are due now."""
    common = {
        "organisation_id": scope.organisation_id,
        "state": EventState.waiting,
        "next_attempt_time": at,
    }
    rows = [{**common, **asdict(delivery)} for delivery in deliveries]
    await db.execute(sa.insert(webhook_deliveries), rows)


async def delete_old_events(db: AsyncConnection, scope: TenantScope, *, before: datetime) -> None:
    """Delete events with their deliveries, except those with a delivery that still waits."""
    waits = sa.exists().where(
        of_tenant(webhook_deliveries, scope),
        webhook_deliveries.c.event_id == webhook_events.c.event_id,
        webhook_deliveries.c.state == EventState.waiting,
    )
    await db.execute(
        sa.delete(webhook_events).where(
            of_tenant(webhook_events, scope), webhook_events.c.event_time < before, sa.not_(waits)
        )
    )
