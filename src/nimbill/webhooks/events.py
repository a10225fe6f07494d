"""Writes events in the transaction of the change that they announce.

What is rolled back is never announced, and what is committed is delivered at least once.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock, exact_json
from nimbill.foundation.ids import derive_id, new_id
from nimbill.jobs.records import add_job, run_sooner
from nimbill.webhooks import records
from nimbill.webhooks.event_types import TEST_EVENT, WebhookEventType
from nimbill.webhooks.records import NewDelivery, NewEvent

# See docs/choices.md, webhook-events.

DELIVER_WEBHOOKS = "deliver_webhooks"  # one job for each endpoint with unfinished deliveries
PAYLOAD_BYTES_MAX = 20_000

# Ids and small facts; the receiver reads the rest from the API.
EventData = Mapping[str, str | int | bool | None]


class _ObjectEvent(NamedTuple):
    object: str  # events of the same object are delivered in order
    event: NewEvent


class Announcement(NamedTuple):
    event_type: WebhookEventType
    data: EventData


async def publish_event(
    db: AsyncConnection, scope: TenantScope, event_type: WebhookEventType, data: EventData
) -> None:
    """Announce a change to every endpoint that wants this type of event."""
    await publish_events(db, scope, [Announcement(event_type, data)])


async def publish_events(
    db: AsyncConnection, scope: TenantScope, announcements: Sequence[Announcement]
) -> None:
    """Announce changes of different objects. The caller holds the locks of these objects.

    Call it once in a transaction, near its end and before the audit entry. Everybody then locks
    the endpoints, their jobs and the head of the audit chain in the same order, and not for long.
    """
    if not announcements:
        return
    event_types = {each.event_type for each in announcements}
    endpoints = await records.lock_subscribed_endpoints(db, scope, event_types)
    if not endpoints:
        return
    events: list[_ObjectEvent] = []
    for index, (event_type, data) in enumerate(announcements):
        at = endpoints[0].time + timedelta(microseconds=index)
        name = event_type.object_template.format_map(data)
        events.append(_ObjectEvent(name, _build_event(event_type, data, at)))
    wanted = {
        endpoint.endpoint_id: [
            each
            for each in events
            if not endpoint.event_types or each.event.event_type in endpoint.event_types
        ]
        for endpoint in endpoints
    }
    await _store(db, scope, wanted)


async def publish_test_event(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, *, at: datetime
) -> tuple[str, str]:
    """Send an event to this endpoint only. Return the ids of the delivery and the event."""
    event = _build_event(TEST_EVENT, {"endpoint_id": endpoint_id}, at)
    await _store(db, scope, {endpoint_id: [_ObjectEvent(f"test/{event.event_id}", event)]})
    return build_delivery_id(endpoint_id, event.event_id), event.event_id


async def schedule_delivery(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, *, due: datetime
) -> None:
    """Make the job of the endpoint run at this time. The caller has locked the endpoint."""
    await add_job(db, scope, DELIVER_WEBHOOKS, due=due, subject=endpoint_id)
    await run_sooner(db, scope, DELIVER_WEBHOOKS, subject=endpoint_id, due=due)


def build_delivery_id(endpoint_id: str, event_id: str) -> str:
    return derive_id("whd", endpoint_id, event_id)


async def _store(
    db: AsyncConnection, scope: TenantScope, wanted: Mapping[str, Sequence[_ObjectEvent]]
) -> None:
    """`wanted` holds the events of each endpoint."""
    events = {each.event.event_id: each.event for some in wanted.values() for each in some}
    await records.add_events(db, scope, list(events.values()))
    deliveries = [
        NewDelivery(
            delivery_id=build_delivery_id(endpoint_id, event.event_id),
            endpoint_id=endpoint_id,
            event_id=event.event_id,
            object=name,
            event_time=event.event_time,
        )
        for endpoint_id, some in wanted.items()
        for name, event in some
    ]
    now = clock.now()
    await records.add_deliveries(db, scope, deliveries, at=now)
    for endpoint_id in wanted:
        await schedule_delivery(db, scope, endpoint_id, due=now)


def _build_event(event_type: str, data: EventData, at: datetime) -> NewEvent:
    """The stored payload is what is sent and signed, in every attempt."""
    payload = exact_json.encode(
        {"type": event_type, "timestamp": clock.format_timestamp(clock.now()), "data": dict(data)}
    ).decode()
    if len(payload.encode()) > PAYLOAD_BYTES_MAX:
        raise ValueError(f"{event_type}: the payload has more than {PAYLOAD_BYTES_MAX} bytes")
    return NewEvent(event_id=new_id("evt"), event_type=event_type, payload=payload, event_time=at)
