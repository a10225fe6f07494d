"""Who did each step of a month last, and when: from the audit log and the stored records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.audit.records import format_timestamp, list_latest_entries
from nimbill.database.tenant_scope import TenantScope, of_period, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.imports.records import ImportState, cost_imports
from nimbill.invoicing.documents.invoiced_groups import find_last_sent
from nimbill.invoicing.runs.month_settings import find_last_saved_rate

_imports = cost_imports.c


@dataclass(frozen=True, slots=True)
class StepAction:
    actor: str
    time: str


async def load_step_actions(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> Mapping[str, StepAction]:
    """Load who did each step last, by the name of the step."""
    month, vendor = period.month, period.vendor
    resources = {
        f"recalculation/{vendor}/{month}": "decided",
        f"invoices/{month}/{vendor}": "created",
        f"month/{vendor}/{month}": "closed",
    }
    actions = await _load_imports(db, scope, period)
    for row in await list_latest_entries(db, scope, list(resources)):
        actions[resources[row.resource]] = _read_entry(row.entry)
    rate = await find_last_saved_rate(db, scope, period)
    if rate is not None:
        actions["rates"] = StepAction(rate.rate_saved_by, format_timestamp(rate.rate_saved_time))
    sent = await find_last_sent(db, scope, period)
    if sent is not None:
        actions["sent"] = StepAction(sent.sent_by, format_timestamp(sent.sent_time))
    return actions


def _read_entry(text: str) -> StepAction:
    entry: dict[str, Any] = exact_json.decode_stored(text)
    return StepAction(entry["actor_name"] or entry["actor"], entry["at"])


async def _load_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> dict[str, StepAction]:
    """The last import that counts, the last one that drifted, and what counts after a drift."""
    stmt = (
        sa.select(_imports.import_id, _imports.state, _imports.created_by, _imports.update_time)
        .where(
            of_tenant(cost_imports, scope),
            of_period(cost_imports, period),
            _imports.state.in_([ImportState.done, ImportState.drift]),
        )
        .order_by(_imports.update_time, _imports.import_id)
    )
    steps = {}
    for row in await db.execute(stmt):
        if row.state == ImportState.drift:
            steps["drifted"] = row
        else:
            steps["arrived"] = row
            steps |= {"corrected": row} if "drifted" in steps else {}
    resources = {f"costs/imports/{row.import_id}": row.import_id for row in steps.values()}
    names = {
        resources[row.resource]: _read_entry(row.entry).actor
        for row in await list_latest_entries(db, scope, list(resources))
    }
    return {
        step: StepAction(
            names.get(row.import_id, row.created_by), format_timestamp(row.update_time)
        )
        for step, row in steps.items()
    }
