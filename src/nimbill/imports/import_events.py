"""Announces the outcome of imports by webhooks."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.imports.bodies import ImportState
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event

basis = chosen("webhook-events")

# An import that changes nothing is not announced.
EVENT_TYPES = {
    ImportState.done: WebhookEventType.import_committed,
    ImportState.parked: WebhookEventType.import_parked,
    ImportState.drift: WebhookEventType.import_drift,
    ImportState.refused: WebhookEventType.import_failed,
    ImportState.failed: WebhookEventType.import_failed,
}


async def announce_import(
    db: AsyncConnection,
    scope: TenantScope,
    row: Row,
    state: ImportState,
    *,
    month: str | None = None,
    report: Mapping[str, Any] | None = None,
    problem: Mapping[str, Any] | None = None,
) -> None:
    """`row` is the import before the change; `problem` is why it was refused or failed."""
    if state not in EVENT_TYPES:
        return
    data: dict[str, str | int | None] = {
        "import_id": row.import_id,
        "vendor": row.vendor,
        "month": month or row.month,
        "state": state.value,
    }
    if state is ImportState.drift:
        data["proposals"] = len((report or {})["proposals"])
    if problem is not None:
        data["code"] = problem["code"]
    await publish_event(db, scope, EVENT_TYPES[state], data)
