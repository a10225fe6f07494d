"""Changes to endpoints and their deliveries: the checks in order, then the change."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import Resources
from nimbill.access.signing_keys import load_organisation_encryptor
from nimbill.database.list_query import ListQuery
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.webhooks import delivery_records, records
from nimbill.webhooks.bodies import (
    EventState,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEndpointBody,
    WebhookSecret,
    WebhookTest,
)
from nimbill.webhooks.endpoint_secrets import ROTATION_PERIOD, encrypt_secret
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_test_event, schedule_delivery
from nimbill.webhooks.signature import generate_secret
from nimbill.webhooks.url_rules import RULE, is_url_permitted

ENDPOINTS_MAX = 20
SINCE_RULE = "an RFC 3339 timestamp with a time zone, such as 2026-04-01T00:00:00Z"


async def list_endpoints(db: AsyncConnection, scope: TenantScope) -> list[WebhookEndpoint]:
    return [_build_endpoint(row) for row in await records.list_endpoints(db, scope)]


async def read_endpoint(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str
) -> WebhookEndpoint:
    row = await records.find_endpoint(db, scope, endpoint_id)
    if row is None:
        raise not_found()
    return _build_endpoint(row)


async def create_endpoint(
    db: AsyncConnection, scope: TenantScope, resources: Resources, body: WebhookEndpointBody
) -> WebhookSecret:
    _refuse_url(resources.settings, body)
    if await records.lock_all_endpoints(db, scope) >= ENDPOINTS_MAX:
        raise Conflict(
            "too_many_endpoints",
            f"An organisation has at most {ENDPOINTS_MAX} webhook endpoints. Delete one first.",
        )
    endpoint_id, secret = new_id("whe"), generate_secret()
    own_encryptor = await load_organisation_encryptor(db, scope, resources.encryptor)
    encrypted = encrypt_secret(own_encryptor, scope, endpoint_id, secret)
    await records.add_endpoint(db, scope, endpoint_id, encrypted, _read_fields(body))
    return WebhookSecret(endpoint_id=endpoint_id, secret=secret, previous_secret_until=None)


async def update_endpoint(
    db: AsyncConnection,
    scope: TenantScope,
    settings: Settings,
    endpoint_id: str,
    body: WebhookEndpointBody,
) -> WebhookEndpoint:
    """What waits for an endpoint that is disabled now is given up; it can be replayed."""
    row = await _lock_endpoint(db, scope, endpoint_id)
    _refuse_url(settings, body)
    fields = _read_fields(body)
    # the reason stays while the endpoint is disabled
    fields["disabled_reason"] = None if fields["enabled"] else row.disabled_reason
    await records.change_endpoint(db, scope, endpoint_id, clock.now(), **fields)
    if not fields["enabled"]:
        await delivery_records.fail_waiting_deliveries(db, scope, endpoint_id)
    return await read_endpoint(db, scope, endpoint_id)


async def delete_endpoint(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> None:
    """Its deliveries are deleted too."""
    await _lock_endpoint(db, scope, endpoint_id)
    await records.delete_endpoint(db, scope, endpoint_id)


async def rotate_secret(
    db: AsyncConnection, scope: TenantScope, resources: Resources, endpoint_id: str
) -> WebhookSecret:
    """The secret until now signs too for a day. One that was replaced before that ends at once."""
    row = await _lock_endpoint(db, scope, endpoint_id)
    now, secret = clock.now(), generate_secret()
    own_encryptor = await load_organisation_encryptor(db, scope, resources.encryptor)
    await records.change_endpoint(
        db,
        scope,
        endpoint_id,
        now,
        encrypted_secret=encrypt_secret(own_encryptor, scope, endpoint_id, secret),
        encrypted_previous_secret=row.encrypted_secret,
        previous_secret_until=now + ROTATION_PERIOD,
    )
    return WebhookSecret(
        endpoint_id=endpoint_id,
        secret=secret,
        previous_secret_until=clock.format_seconds(now + ROTATION_PERIOD),
    )


async def send_test_event(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> WebhookTest:
    _refuse_disabled(await _lock_endpoint(db, scope, endpoint_id))
    delivery_id, event_id = await publish_test_event(db, scope, endpoint_id, at=clock.now())
    return WebhookTest(delivery_id=delivery_id, event_id=event_id)


class DeliveryPage(NamedTuple):
    deliveries: list[WebhookDelivery]
    total: int


async def list_deliveries(
    db: AsyncConnection,
    scope: TenantScope,
    endpoint_id: str,
    query: ListQuery,
    state: EventState | None,
) -> DeliveryPage:
    await read_endpoint(db, scope, endpoint_id)
    rows, total = await delivery_records.list_deliveries(db, scope, endpoint_id, query, state)
    return DeliveryPage([_build_delivery(row) for row in rows], total)


async def replay_delivery(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, delivery_id: str
) -> None:
    """Later events of the same object that are still waiting are sent after it."""
    endpoint, now = await _lock_endpoint(db, scope, endpoint_id), clock.now()
    if not await delivery_records.replay_delivery(db, scope, endpoint_id, delivery_id, at=now):
        raise not_found()
    _refuse_disabled(endpoint)
    await schedule_delivery(db, scope, endpoint_id, due=now)


async def replay_failed(
    db: AsyncConnection, scope: TenantScope, endpoint_id: str, since: str
) -> int:
    endpoint, now = await _lock_endpoint(db, scope, endpoint_id), clock.now()
    start = _parse_time("since", since)
    _refuse_disabled(endpoint)
    number = await delivery_records.replay_failed_deliveries(
        db, scope, endpoint_id, since=start, at=now
    )
    if number:
        await schedule_delivery(db, scope, endpoint_id, due=now)
    return number


async def _lock_endpoint(db: AsyncConnection, scope: TenantScope, endpoint_id: str) -> Row:
    row = await records.lock_endpoint(db, scope, endpoint_id)
    if row is None:
        raise not_found()
    return row


def _read_fields(body: WebhookEndpointBody) -> dict[str, Any]:
    return {
        "url": body.url,
        "description": body.description or "",
        "event_types": list(body.event_types or []),
        "enabled": body.enabled is not False,
    }


def _refuse_url(settings: Settings, body: WebhookEndpointBody) -> None:
    if not is_url_permitted(body.url, settings.webhook_networks):
        refuse_if([Violation("url", RULE)])


def _refuse_disabled(endpoint: Row) -> None:
    if not endpoint.enabled:
        raise Conflict(
            "endpoint_disabled", "This webhook endpoint is disabled. Enable it before sending."
        )


def _parse_time(name: str, text: str) -> datetime:
    try:
        time = msgspec.convert(text, datetime)
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    refuse_if([Violation(name, SINCE_RULE)])
    raise AssertionError("refused before")


def _build_endpoint(row: Row) -> WebhookEndpoint:
    until = row.previous_secret_until
    is_rotating = until is not None and clock.now() < until
    return WebhookEndpoint(
        endpoint_id=row.endpoint_id,
        url=row.url,
        description=row.description,
        event_types=msgspec.convert(row.event_types, list[WebhookEventType]),
        enabled=row.enabled,
        disabled_reason=row.disabled_reason,
        previous_secret_until=clock.format_seconds(until) if is_rotating else None,
        create_time=clock.format_timestamp(row.create_time),
        update_time=clock.format_timestamp(row.update_time),
    )


def _build_delivery(row: Row) -> WebhookDelivery:
    return WebhookDelivery(
        delivery_id=row.delivery_id,
        event_id=row.event_id,
        event_type=row.event_type,
        object=row.object,
        state=EventState(row.state),
        attempts=row.attempts,
        last_status=row.last_status,
        last_error=row.last_error,
        last_attempt_time=_format_time(row.last_attempt_time),
        next_attempt_time=_format_time(row.next_attempt_time),
        event_time=clock.format_timestamp(row.event_time),
    )


def _format_time(time: datetime | None) -> str | None:
    return None if time is None else clock.format_timestamp(time)
