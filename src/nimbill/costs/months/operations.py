"""Reopen months, and refuse changes to closed ones."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.costs.months import records
from nimbill.costs.months.bodies import MonthReopening
from nimbill.costs.months.records import MonthState
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event


async def reopen_month(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    body: MonthReopening,
    *,
    approved: ApprovedRequest | None = None,
) -> None:
    """The month keeps its closing number, so that later closings continue the count."""
    await require_approval(db, scope, ApprovalKind.month_reopen, approved)
    period = BillingPeriod(month, body.vendor)
    state = await records.lock_month(db, scope, period)
    await records.lock_closing_count(db, scope, body.vendor, shared=False)
    if not state.closed:
        raise Conflict("month_open", "This month is not closed.")
    await records.save_month_state(
        db, scope, period, closed=False, closing_number=state.closing_number
    )
    await publish_event(
        db, scope, WebhookEventType.month_reopened, {"month": month, "vendor": body.vendor}
    )


def refuse_closed(state: MonthState) -> None:
    if state.closed:
        raise Conflict("month_closed", "This month is closed.")
