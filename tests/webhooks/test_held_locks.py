"""Endpoints are locked while events are written for them and while they change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit import records as audit
from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.foundation import clock
from nimbill.webhooks import records
from nimbill.webhooks.delivery import RECHECK_PAUSE, find_next_run
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, publish_event, publish_events
from nimbill.webhooks.operations import ENDPOINTS_MAX
from nimbill.webhooks.records import webhook_deliveries
from tests.held_locks import call_while_locked, in_transaction
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.webhooks.endpoints import call, create_endpoint, list_deliveries, send

URL = "https://receiver.invalid/"  # no name server knows it
CLOSED = {"month": "2026-03", "vendor": "aws"}


async def publish(db: AsyncConnection, scope: TenantScope) -> None:
    await publish_event(db, scope, WebhookEventType.month_closed, CLOSED)


async def do_nothing(_db: AsyncConnection, _scope: TenantScope) -> None:
    return


def test_a_job_that_ends_while_an_event_is_written_runs_again_soon(service: Service) -> None:
    """Without the shared lock, the job would end and nobody would deliver the event."""
    endpoint = create_endpoint(service, URL)["endpoint_id"]

    async def find(db: AsyncConnection, scope: TenantScope) -> datetime | None:
        return await find_next_run(db, scope, endpoint)

    before = clock.now()
    assert in_transaction(service, find)() is None
    outcome = call_while_locked(service, publish, in_transaction(service, find))

    assert not outcome.waited
    assert outcome.result >= before + RECHECK_PAUSE


def test_an_event_waits_for_a_job_that_is_ending(service: Service) -> None:
    endpoint = create_endpoint(service, URL)["endpoint_id"]

    async def end(db: AsyncConnection, scope: TenantScope) -> None:
        assert await records.try_lock_endpoint(db, scope, endpoint)

    outcome = call_while_locked(service, end, in_transaction(service, publish))

    assert outcome.waited
    assert len(list_deliveries(service, endpoint)) == 1


def test_an_endpoint_that_is_disabled_meanwhile_gets_no_event(service: Service) -> None:
    endpoint = create_endpoint(service, URL)["endpoint_id"]

    async def lock(db: AsyncConnection, scope: TenantScope) -> None:
        assert await records.lock_endpoint(db, scope, endpoint) is not None

    async def disable(db: AsyncConnection, scope: TenantScope) -> None:
        await records.change_endpoint(db, scope, endpoint, clock.now(), enabled=False)

    outcome = call_while_locked(service, lock, in_transaction(service, publish), change=disable)

    assert outcome.waited
    assert list_deliveries(service, endpoint) == []


def test_disabling_an_endpoint_gives_up_events_that_are_being_written(service: Service) -> None:
    endpoint = create_endpoint(service, URL)["endpoint_id"]
    body = {"url": URL, "enabled": False}

    outcome = call_while_locked(
        service, publish, lambda: call(service, "PUT", f"/{endpoint}", body)
    )

    assert outcome.waited
    (delivery,) = list_deliveries(service, endpoint)
    assert (delivery["state"], delivery["last_error"]) == ("failed", "endpoint_disabled")


def test_two_requests_cannot_exceed_the_number_of_endpoints(service: Service) -> None:
    for _ in range(ENDPOINTS_MAX - 1):
        create_endpoint(service, URL)

    async def create(db: AsyncConnection, scope: TenantScope) -> None:
        assert await records.lock_all_endpoints(db, scope) == ENDPOINTS_MAX - 1

    async def insert(db: AsyncConnection, scope: TenantScope) -> None:
        values: dict[str, Any] = {"endpoint_id": "whe_x", "url": URL, "encrypted_secret": b""}
        values["organisation_id"] = scope.organisation_id
        await db.execute(sa.insert(records.webhook_endpoints).values(**values))

    outcome = call_while_locked(
        service, create, lambda: send(service, "POST", "", {"url": URL}), change=insert
    )

    assert outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "too_many_endpoints"


def test_events_are_numbered_in_the_order_in_which_they_are_written(service: Service) -> None:
    create_endpoint(service, URL)

    async def publish_twice(db: AsyncConnection, scope: TenantScope) -> list[str]:
        await publish(db, scope)
        await publish_event(db, scope, WebhookEventType.month_reopened, CLOSED)
        stmt = (
            sa.select(records.webhook_events.c.event_type)
            .join(
                webhook_deliveries,
                records.webhook_events.c.event_id == webhook_deliveries.c.event_id,
            )
            .where(of_tenant(webhook_deliveries, scope))
            .order_by(webhook_deliveries.c.event_time)
        )
        return list((await db.execute(stmt)).scalars())

    assert in_transaction(service, publish_twice)() == ["month.closed", "month.reopened"]


def test_an_event_after_the_audit_entry_of_its_transaction_is_noticed(service: Service) -> None:
    """Both orders at the same time would be a deadlock: `tests/lock_order.py` fails such a test."""
    entry = audit.AuditedChange(
        actor="usr_1", actor_name="", action="close", resource="months", request_id="req_1"
    )

    async def audit_first(db: AsyncConnection, scope: TenantScope) -> None:
        await audit.append_entry(db, **entry)
        await publish(db, scope)

    async def publish_first(db: AsyncConnection, scope: TenantScope) -> None:
        await publish(db, scope)
        await audit.append_entry(db, **entry)

    in_transaction(service, publish_first)()
    with pytest.raises(AssertionError, match="before the audit entry"):
        in_transaction(service, audit_first)()


def test_events_of_several_types_reach_the_endpoints_that_want_them(service: Service) -> None:
    """They are published at once, so that endpoints are always locked in the order of their ids."""
    everything = create_endpoint(service, URL)["endpoint_id"]
    closed_only = create_endpoint(service, URL, event_types=["month.closed"])["endpoint_id"]
    other = create_endpoint(service, URL, event_types=["budget.alert"])["endpoint_id"]

    async def publish_both(db: AsyncConnection, scope: TenantScope) -> None:
        types = (WebhookEventType.month_closed, WebhookEventType.month_reopened)
        await publish_events(db, scope, [Announcement(each, CLOSED) for each in types])

    in_transaction(service, publish_both)()

    def list_types(endpoint: str) -> list[str]:
        return [each["event_type"] for each in list_deliveries(service, endpoint)]

    assert list_types(everything) == ["month.reopened", "month.closed"]  # the newest first
    assert list_types(closed_only) == ["month.closed"]
    assert list_types(other) == []
