"""Operations of the month end: save settings, save exchange rates, create invoices."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.hooks import RunJobNow
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest, require_approval
from nimbill.costs.months.closed_month import MonthChange
from nimbill.costs.months.records import MonthState, load_month_state, lock_month
from nimbill.customers.billing_groups.fee_targets import resolve_fee_targets
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.tenant_scope import Row, TenantScope, transaction
from nimbill.foundation import clock, exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents import invoiced_groups, stored_invoices
from nimbill.invoicing.documents.bodies import (
    WARNING_DETAILS,
    CreatedInvoice,
    CreateInvoicesRequest,
    CreateInvoicesResponse,
    InvoiceWarning,
    SaveExchangeRateRequest,
    SaveSettingsRequest,
    SkippedGroup,
)
from nimbill.invoicing.documents.document import InvoiceWarningCode
from nimbill.invoicing.documents.run_invoices import list_run_invoices
from nimbill.invoicing.runs import month_settings
from nimbill.invoicing.runs import records as run_records
from nimbill.invoicing.runs.build_invoice import build_invoice
from nimbill.invoicing.runs.invoice_run import ALREADY_SENT, find_month_obstacle, load_batch
from nimbill.invoicing.runs.records import RunRequest

__all__ = ["CreateInvoicesRequest", "CreateInvoicesResponse"]  # also used by the command line

# See docs/choices.md, month-end-order.

POLL_INTERVAL = timedelta(milliseconds=100)


async def save_invoice_settings(
    db: AsyncConnection, scope: TenantScope, month: str, body: SaveSettingsRequest
) -> None:
    """Save the settings sent, or with `internal` copy the groups' default settings.

    Copying leaves out vendors whose month is closed, and is refused if nothing else is left;
    settings sent for a closed month are refused.
    """
    if body.internal:
        await _copy_defaults(db, scope, month)
        return
    settings = body.settings if isinstance(body.settings, dict) else {}
    await _refuse_unknown_groups(db, scope, settings, "settings")
    for vendor in sorted({vendor for by_vendor in settings.values() for vendor in by_vendor}):
        state = await _lock_period(db, scope, BillingPeriod(month, vendor))
        MonthChange.save_terms.refuse_if_closed(state)
    earlier_targets = await month_settings.load_earlier_fee_targets(db, scope, month, settings)
    await month_settings.save_settings(
        db,
        scope,
        month,
        [
            month_settings.NewMonthlySetting(
                company_id=company_id,
                vendor=vendor,
                setting=setting,
                fee_targets=resolve_fee_targets(
                    msgspec.structs.asdict(setting), earlier_targets.get((company_id, vendor))
                ),
                memo=setting.memo or None,
            )
            for company_id, by_vendor in settings.items()
            for vendor, setting in by_vendor.items()
        ],
    )


async def _copy_defaults(db: AsyncConnection, scope: TenantScope, month: str) -> None:
    vendors = await load_vendors(db, scope)
    states = {
        vendor: await _lock_period(db, scope, BillingPeriod(month, vendor)) for vendor in vendors
    }
    open_vendors = [vendor for vendor, state in states.items() if not state.closed]
    in_use = await month_settings.list_default_vendors(db, scope)
    if not in_use.intersection(open_vendors):
        for vendor in sorted(in_use.intersection(vendors)) or vendors:
            MonthChange.save_terms.refuse_if_closed(states[vendor])
    await month_settings.copy_defaults(db, scope, month, open_vendors)


async def save_exchange_rates(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    body: SaveExchangeRateRequest,
    *,
    saved_by: str,
    approved: ApprovedRequest | None = None,
) -> None:
    """Save the rate for all of the groups; refuse it if one of them has no saved settings.

    `saved_by` is the name of the user or command.
    """
    await _refuse_unknown_groups(db, scope, body.billing_groups, "billing_groups")
    period = BillingPeriod(month, body.vendor)
    MonthChange.save_rates.refuse_if_closed(await _lock_period(db, scope, period))
    company_ids = list(dict.fromkeys(body.billing_groups))
    # before the approval, so that whoever has to request one learns first what is missing
    known = await month_settings.load_saved_settings(db, scope, month, company_ids)
    _refuse_without_settings(
        company_ids, {name for name, vendor in known if vendor == period.vendor}
    )
    await require_approval(db, scope, ApprovalKind.rates, approved)
    saved = await month_settings.save_rates(
        db, scope, period, company_ids, body.exchange_rate, saved_by
    )
    _refuse_without_settings(company_ids, saved)


def _refuse_without_settings(company_ids: Sequence[str], saved: Collection[str]) -> None:
    refuse_if_missing({name: "settings_missing" for name in company_ids if name not in saved})


async def _lock_period(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> MonthState:
    return await lock_month(db, scope, period, shared=True)


async def _refuse_unknown_groups(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str], field: str
) -> list[str]:
    """Return the groups in the order of their numbers."""
    visible = await month_settings.list_visible_groups(db, scope, list(company_ids))
    if len(visible) < len(set(company_ids)):
        refuse_if([Violation(field, "existing billing groups")])
    return visible


def refuse_if_missing(missing: Mapping[str, str]) -> None:
    if missing:
        raise _build_conflict(
            "not_ready",
            "Some billing groups cannot be invoiced yet. Each violation names one and its reason.",
            missing,
        )


def _build_conflict(code: str, detail: str, missing: Mapping[str, str]) -> Conflict:
    """List the reason for each group; `field` holds the company_id, which the caller knows."""
    return Conflict(
        code, detail, [Violation(company_id, reason) for company_id, reason in missing.items()]
    )


async def start_invoice_run(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    body: CreateInvoicesRequest,
    *,
    actor: Mapping[str, Any],
    key_hash: bytes | None,
) -> str:
    """Start or join the run that creates the invoices; return its id.

    Named groups must all be ready; in bulk, groups that are not ready are skipped.
    """
    period = BillingPeriod(month, body.vendor)
    if body.bulk:
        company_ids = await month_settings.list_visible_groups(db, scope)
        requested: Any = None if scope.billing_groups is None else sorted(scope.billing_groups)
    else:
        company_ids = await _refuse_unknown_groups(db, scope, body.group, "group")
        requested = sorted(company_ids)
    request = RunRequest(
        period=period,
        company_ids=company_ids,
        groups_hash=sha256(exact_json.encode([body.bulk, requested])).digest(),
        actor=actor,
    )
    run_id = await run_records.find_run_to_join(db, scope, request, key_hash)
    if run_id is None and not body.bulk:
        await _refuse_unready_groups(db, scope, period, company_ids)
    else:
        MonthChange.create_invoices.refuse_if_closed(await load_month_state(db, scope, period))
    return run_id or await run_records.start_or_join_run(db, scope, request, key_hash)


async def _refuse_unready_groups(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, company_ids: Collection[str]
) -> None:
    batch = await load_batch(db, scope, period, list(company_ids))
    MonthChange.create_invoices.refuse_if_closed(batch.context.state)
    obstacle = find_month_obstacle(batch.context.state)
    missing = dict.fromkeys(
        await invoiced_groups.list_sent_groups(db, scope, period, company_ids), ALREADY_SENT
    )
    for company_id, inputs in batch.inputs.items():
        if company_id in missing:
            continue
        try:
            build_invoice(inputs, batch.context.settings, period, clock.now())
        except CannotBeBilled as refusal:
            missing[company_id] = refusal.reason
        else:
            missing |= {company_id: obstacle} if obstacle else {}
    refuse_if_missing(missing)


async def load_revisions(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    company_id: str,
    *,
    revision: int | None = None,
) -> Sequence[Row]:
    """Load all revisions of an invoice or one of them, the current one first."""
    revisions = await stored_invoices.list_revisions(
        db, scope, period, company_id, revision=revision
    )
    if not revisions:
        raise not_found()
    return revisions


# by run_id, so that all requests of this process that wait for a run share one task
_waiting_tasks: dict[str, asyncio.Task[CreateInvoicesResponse]] = {}


async def wait_for_run(
    engine: AsyncEngine, run_job_now: RunJobNow, scope: TenantScope, run_id: str
) -> CreateInvoicesResponse:
    """Execute the run in this process, or wait for the process that executes it.

    The run continues if the waiting request is cancelled.
    """
    task = _waiting_tasks.get(run_id)
    if task is None:
        task = asyncio.create_task(_wait_for_run(engine, run_job_now, scope, run_id))
        _waiting_tasks[run_id] = task
        task.add_done_callback(lambda _: _waiting_tasks.pop(run_id, None))
    return await asyncio.shield(task)


async def _wait_for_run(
    engine: AsyncEngine, run_job_now: RunJobNow, scope: TenantScope, run_id: str
) -> CreateInvoicesResponse:
    while True:
        async with transaction(engine, scope.organisation_id) as db:
            run = await run_records.find_run(db, scope, run_id)
            assert run is not None, "a run is never deleted"
            if run.state == "done":
                invoices = await list_run_invoices(db, scope, run_id)
                skipped = exact_json.decode_stored(run.skipped)
                break
        if not await run_job_now(scope, run.job_id):
            await asyncio.sleep(POLL_INTERVAL.total_seconds())
    if not invoices:
        raise _build_conflict(
            "no_group_ready",
            "None of the billing groups can be invoiced. Each violation names one and its reason.",
            skipped,
        )
    return _build_response(invoices, skipped)


def _build_response(invoices: Sequence[Row], skipped: Mapping[str, str]) -> CreateInvoicesResponse:
    created = [
        CreatedInvoice(
            company_id=row.company_id,
            vendor=row.vendor,
            invoice_no=stored_invoices.format_invoice_no(row.month, row.number),
        )
        for row in invoices
    ]
    return CreateInvoicesResponse(
        created=created,
        skipped=[
            SkippedGroup(company_id=company_id, reason=reason)
            for company_id, reason in skipped.items()
        ],
        warnings=[
            InvoiceWarning(
                company_id=invoice.company_id,
                invoice_no=invoice.invoice_no,
                code=InvoiceWarningCode(code),
                detail=WARNING_DETAILS[InvoiceWarningCode(code)],
            )
            for invoice, row in zip(created, invoices, strict=True)
            for code in row.warnings
        ],
    )
