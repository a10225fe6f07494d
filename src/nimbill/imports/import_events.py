"""Announces the outcome of imports by webhooks."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.imports.bodies import ImportState
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import Announcement, publish_events

# See docs/choices.md, webhook-events.

# An import that changes nothing is not announced.
EVENT_TYPES = {
    ImportState.done: WebhookEventType.import_committed,
    ImportState.parked: WebhookEventType.import_parked,
    ImportState.drift: WebhookEventType.import_drift,
    ImportState.refused: WebhookEventType.import_failed,
    ImportState.failed: WebhookEventType.import_failed,
}


class ImportOutcome(NamedTuple):
    """`row` is the import before the change; `problem` is why it was refused or failed."""

    row: Row
    state: ImportState
    month: str | None = None
    report: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None


async def announce_imports(
    db: AsyncConnection, scope: TenantScope, *outcomes: ImportOutcome
) -> None:
    announced = [outcome for outcome in outcomes if outcome.state in EVENT_TYPES]
    await publish_events(db, scope, [_describe(outcome) for outcome in announced])


def _describe(outcome: ImportOutcome) -> Announcement:
    row, state, month, report, problem = outcome
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
    return Announcement(EVENT_TYPES[state], data)
