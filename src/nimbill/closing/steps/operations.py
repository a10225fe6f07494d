"""Close a month when it is ready, reopen it, and report the steps of months."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.closing.steps import records
from nimbill.closing.steps.bodies import (
    MonthClosing,
    MonthRate,
    MonthReopening,
    MonthStatus,
    MonthStep,
    StepBlocker,
    StepState,
)
from nimbill.closing.steps.month_steps import Blocker, Step, build_steps, find_missing
from nimbill.closing.steps.step_actions import StepAction, load_step_actions
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import (
    MonthState,
    lock_closing_count,
    lock_month,
    save_month_state,
)
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, not_found
from nimbill.foundation.vendors import BilledVendor
from nimbill.invoicing.runs.month_settings import count_saved_rates
from nimbill.webhooks.event_types import WebhookEventType
from nimbill.webhooks.events import publish_event

_LINKS = {
    "no_costs": "/m/core/costs/imports",
    "import_parked": "/m/core/costs/imports",
    "import_running": "/m/core/costs/imports",
    "drift_uncorrected": "/m/core/costs/imports",
    "account_in_no_group": "/m/core/accts?vendor={vendor}",
    "entry_undecided": "/m/core/billinggroup/recalculation/{month}?vendor={vendor}",
    "run_in_progress": "/m/core/invoices/runs/{month}",
    "settings_missing": "/m/core/invoices/{month}",
    "rate_missing": "/m/core/invoices/{month}",
    "no_invoices": "/m/core/invoices/{month}",
    "invoice_missing": "/m/core/invoices/{month}",
    "invoices_outdated": "/m/core/invoices/{month}/summary?vendor={vendor}",
    "invoices_unsent": "/m/core/invoices/{month}/summary?vendor={vendor}",
    "invoices_unapproved": "/m/core/invoices/{month}/summary?vendor={vendor}",
    "month_not_over": "/m/core/months/{month}?vendor={vendor}",
    "month_closed": "/m/core/months/{month}?vendor={vendor}",
}
_TIE_OUT_LINK = "/m/core/invoices/tie-out/{month}?vendor={vendor}"


# reason to what is missing and what to do
BLOCKER_TEXTS: Mapping[str, str] = {
    "month_not_over": "The month has not ended yet, in UTC.",
    "month_closed": "The month is closed. Reopen it first.",
    "no_costs": "No costs of the vendor were imported. Import them.",
    "import_parked": "An import is parked. Release or replace it.",
    "import_running": "An import is waiting or running. Wait until it is done.",
    "account_in_no_group": "Accounts with usage are in no billing group. Assign them.",
    "entry_undecided": "Entries are not applied to any month. Apply them, or leave them for later.",
    "settings_missing": "Billing groups have no saved settings. Save settings for the month.",
    "rate_missing": "Billing groups have no exchange rate. Save a rate for the month.",
    "no_invoices": "The month has no invoice. Create invoices.",
    "invoice_missing": "Billing groups with usage or applied entries have no invoice. Create it.",
    "invoices_outdated": (
        "The rate, terms, memo or items of billing groups were changed after the invoice. "
        "Create it again."
    ),
    "invoices_unapproved": "Invoices were not approved yet. Request their approval.",
    "invoices_unsent": "Invoices were not sent to the customers yet. Send them.",
    "run_in_progress": "Invoices are being created. Wait until the run is done.",
    "amount_differs": "Invoices differ from the current costs. Create them again.",
    "invoice_cancelled": "Costs are on cancelled invoices only. Close the month without them.",
    "not_on_invoice": "Costs are on no invoice. Create the invoices again.",
    "not_in_costs": "Invoices have usage that the costs do not contain. Create them again.",
    "entries_differ": "The vendor's entries differ from its costs. Import the costs again.",
    "entry_not_on_invoice": "Applied entries are on no invoice. Create the invoices again.",
    "entry_not_applied": "Invoices have entries that are not applied. Create them again.",
    "entry_changed": "Entries were changed after the invoice. Create it again.",
    "entry_invoiced_twice": "Entries are on two invoices. Create these again.",
    "not_tied_out": "The vendor's charges do not tie out with the invoices. See the tie-out.",
    "drift_uncorrected": "Costs differ from those the month was closed with. Correct the month.",
}


async def close_month(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    body: MonthClosing,
    *,
    approved: ApprovedRequest | None = None,
) -> list[Violation]:
    """Refuse later imports, invoices and applied entries.

    A month that is not ready is only closed with `override`; return what was missing.
    """
    await require_approval(db, scope, ApprovalKind.month_close, approved)
    period = BillingPeriod(month, body.vendor)
    # lock the month first: while it waits for an import, reserved instances can still be moved
    state = await lock_month(db, scope, period)
    closing_count = await lock_closing_count(db, scope, body.vendor, shared=False)
    MonthChange.close.refuse_if_closed(state)
    facts = await records.load_facts(db, scope, period, state, from_data=True)
    missing = _list_violations(find_missing(facts))
    if missing and not body.override:
        raise _build_refusal(state, missing)
    await save_month_state(db, scope, period, closed=True, closing_number=closing_count + 1)
    closed: dict[str, str | int] = {"month": month, "vendor": body.vendor}
    closed["closing_number"] = closing_count + 1
    await publish_event(db, scope, WebhookEventType.month_closed, closed)
    return missing


def _list_violations(missing: list[Blocker]) -> list[Violation]:
    """`field` is the id of the record that is missing something, or else the month."""
    return [
        Violation(subject, blocker.reason)
        for blocker in missing
        for subject in blocker.subjects or ("month",)
    ]


def _build_refusal(state: MonthState, missing: list[Violation]) -> Conflict:
    if state.is_parked:
        return Conflict(
            "month_parked",
            "This month is parked: release or replace its parked import first. "
            "To close it without the parked costs, send override and a reason.",
            missing,
        )
    return Conflict(
        "month_not_ready",
        "This month cannot be closed yet. Each violation names what is missing. "
        "To close it anyway, send override and a reason.",
        missing,
    )


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
    state = await lock_month(db, scope, period)
    await lock_closing_count(db, scope, body.vendor, shared=False)
    if not state.closed:
        raise Conflict("month_open", "This month is not closed.")
    await save_month_state(db, scope, period, closed=False, closing_number=state.closing_number)
    await publish_event(
        db, scope, WebhookEventType.month_reopened, {"month": month, "vendor": body.vendor}
    )


async def load_month(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: BilledVendor
) -> MonthStatus:
    """Users restricted to certain billing groups cannot see the whole month."""
    if scope.billing_groups is not None:
        raise not_found()
    return await _load_status(db, scope, BillingPeriod(month, vendor))


async def list_months(
    db: AsyncConnection, scope: TenantScope, *, limit: int | None, offset: int
) -> list[MonthStatus]:
    """The newest first; empty for users restricted to certain billing groups."""
    if scope.billing_groups is not None:
        return []
    periods = await records.list_known_periods(db, scope, limit=limit, offset=offset)
    return [await _load_status(db, scope, period) for period in periods]


async def list_month_states(
    db: AsyncConnection, scope: TenantScope, *, limit: int | None, offset: int
) -> list[MonthStatus]:
    """List the same months without their steps, with few queries for all of them."""
    if scope.billing_groups is not None:
        return []
    periods = await records.list_known_periods(db, scope, limit=limit, offset=offset)
    known = await records.load_period_states(db, scope)
    return [
        MonthStatus(
            month=period.month,
            vendor=period.vendor,
            state=known.get_state(period),
            provisional=period in known.provisional,
            has_invoices=period in known.invoiced,
            can_be_closed=None,
            exchange_rates=[],
            steps=[],
        )
        for period in periods
    ]


async def _load_status(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> MonthStatus:
    state = await lock_month(db, scope, period, shared=True)
    facts = await records.load_facts(db, scope, period, state, from_data=False)
    actions = await load_step_actions(db, scope, period)
    return MonthStatus(
        month=period.month,
        vendor=period.vendor,
        state="closed" if state.closed else "parked" if state.is_parked else "open",
        provisional=await records.has_provisional_costs(db, scope, period),
        has_invoices=bool(facts.invoiced_groups),
        can_be_closed=not state.closed and not find_missing(facts),
        exchange_rates=[
            MonthRate(exchange_rate=rate, groups=groups)
            for rate, groups in await count_saved_rates(db, scope, period)
        ],
        steps=[_build_step(period, step, actions.get(step.name)) for step in build_steps(facts)],
    )


def _build_step(period: BillingPeriod, step: Step, action: StepAction | None) -> MonthStep:
    """The last action is only shown while the step is done: a reopened month is not closed."""
    done = action if step.state is StepState.done else None
    return MonthStep(
        step=step.name,
        state=step.state,
        blockers=[
            StepBlocker(
                reason=blocker.reason,
                text=BLOCKER_TEXTS[blocker.reason],
                count=len(blocker.subjects) or 1,
                subjects=list(blocker.subjects),
                link=_build_link(period, blocker.reason),
            )
            for blocker in step.blockers
        ],
        done_by=None if done is None else done.actor,
        done_time=None if done is None else done.time,
    )


def _build_link(period: BillingPeriod, reason: str) -> str:
    template = _LINKS.get(reason, _TIE_OUT_LINK)
    return template.format(month=period.month, vendor=period.vendor)
