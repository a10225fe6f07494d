"""Subscribes to all events and reads those that were written, without a receiver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope, of_tenant
from nimbill.foundation import exact_json
from nimbill.webhooks.records import webhook_events
from tests.held_locks import in_transaction
from tests.running_service import Service
from tests.webhooks.endpoints import create_endpoint

URL = "https://receiver.invalid/"  # no name server knows it


def subscribe(service: Service) -> None:
    create_endpoint(service, URL)


def list_published(service: Service) -> list[tuple[str, dict[str, Any]]]:
    """Return type and data of the events of the organisation, oldest first."""

    async def list_payloads(db: AsyncConnection, scope: TenantScope) -> Sequence[str]:
        stmt = (
            sa.select(webhook_events.c.payload)
            .where(of_tenant(webhook_events, scope))
            .order_by(webhook_events.c.event_time)
        )
        return (await db.execute(stmt)).scalars().all()

    payloads: Sequence[str] = in_transaction(service, list_payloads)()
    events = [exact_json.decode_stored(payload) for payload in payloads]
    return [(event["type"], event["data"]) for event in events]
