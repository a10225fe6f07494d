"""What may be done with a month's invoices: settings, then rates, then the invoices themselves."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.access.request_context import RunJobNow
from nimbill.costs.months.operations import refuse_closed
from nimbill.costs.months.records import load_month_state, lock_month
from nimbill.customers.billing_groups.fee_targets import resolve_fee_targets
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import clock, exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.foundation.vendors import BILLED_VENDORS, Vendor
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents import stored_invoices
from nimbill.invoicing.documents.bodies import (
    CreatedInvoice,
    ExchangeRateToSave,
    InvoicesCreated,
    InvoicesToCreate,
    SettingsToSave,
    SkippedGroup,
)
from nimbill.invoicing.runs import month_settings
from nimbill.invoicing.runs import records as run_records
from nimbill.invoicing.runs.build_invoice import drawn_up
from nimbill.invoicing.runs.invoice_run import ready_batch, unready
from nimbill.invoicing.runs.records import RunRequest

__all__ = ["InvoicesCreated", "InvoicesToCreate"]  # the command line asks too

basis = chosen("month-end-order")

LOOK_AGAIN = timedelta(milliseconds=100)


async def save_invoice_settings(
    db: AsyncConnection, scope: TenantScope, month: str, body: SettingsToSave
) -> None:
    """`internal` copies every group's own settings, where the month is not closed already."""
    if body.internal:
        vendors = [v for v in BILLED_VENDORS if not (await _locked(db, scope, month, v)).closed]
        await month_settings.copy_defaults(db, scope, month, vendors)
        return
    sent = body.settings if isinstance(body.settings, dict) else {}
    await _refuse_unknown(db, scope, sent, "settings")
    for vendor in sorted({word for of_group in sent.values() for word in of_group}):
        refuse_closed(await _locked(db, scope, month, vendor))
    before = await month_settings.settled_before(db, scope, month, sent)
    await month_settings.put_settings(
        db,
        scope,
        month,
        [
            month_settings.NewSetting(
                company_id=company_id,
                vendor=vendor,
                setting=setting,
                settled=resolve_fee_targets(
                    msgspec.structs.asdict(setting), before.get((company_id, vendor))
                ),
                memo=setting.memo or None,
            )
            for company_id, of_group in sent.items()
            for vendor, setting in of_group.items()
        ],
    )


async def save_exchange_rates(
    db: AsyncConnection, scope: TenantScope, month: str, body: ExchangeRateToSave
) -> None:
    """For all of the groups or for none; a group without saved settings has nothing to rate."""
    await _refuse_unknown(db, scope, body.billing_groups, "billing_groups")
    refuse_closed(await _locked(db, scope, month, body.vendor))
    asked = list(dict.fromkeys(body.billing_groups))
    rated = await month_settings.put_rates(db, scope, month, body.vendor, asked, body.exchange_rate)
    _refuse_missing({name: "settings_missing" for name in asked if name not in rated})


async def _locked(db: AsyncConnection, scope: TenantScope, month: str, vendor: Vendor) -> Any:
    return await lock_month(db, scope, BillingPeriod(month, vendor), shared=True)


async def _refuse_unknown(
    db: AsyncConnection, scope: TenantScope, company_ids: Collection[str], field: str
) -> None:
    found = await month_settings.visible_groups(db, scope, list(company_ids))
    if len(found) < len(set(company_ids)):
        refuse_if([Violation(field, "existing billing groups")])


def _refuse_missing(missing: Mapping[str, str]) -> None:
    if missing:
        raise _lacking("not_ready", "something is missing for these billing groups", missing)


def _lacking(code: str, detail: str, missing: Mapping[str, str]) -> Conflict:
    """Whose what is missing; the ids are known to the caller and stand in place of fields."""
    return Conflict(code, detail, [Violation(name, reason) for name, reason in missing.items()])


async def ask_for_invoices(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    body: InvoicesToCreate,
    *,
    actor: Mapping[str, Any],
    key_hash: bytes | None,
) -> str:
    """The run that makes them. Named groups must all be ready; in bulk, those that are."""
    refuse_closed(await load_month_state(db, scope, BillingPeriod(month, body.vendor)))
    if body.bulk:
        company_ids = await month_settings.visible_groups(db, scope)
        which: Any = None if scope.billing_groups is None else sorted(scope.billing_groups)
    else:
        await _refuse_unknown(db, scope, body.group, "group")
        company_ids = await month_settings.visible_groups(db, scope, list(body.group))
        which = sorted(company_ids)
    asked = RunRequest(
        month=month,
        vendor=body.vendor,
        company_ids=company_ids,
        groups_hash=sha256(exact_json.write([body.bulk, which])).digest(),
        actor=actor,
    )
    joined = await run_records.to_join(db, scope, asked, key_hash)
    if joined is None and not body.bulk:
        await _refuse_unready(db, scope, month, body.vendor, company_ids)
    return joined or await run_records.start_or_join(db, scope, asked, key_hash)


async def _refuse_unready(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendor: Vendor,
    company_ids: Collection[str],
) -> None:
    state = await load_month_state(db, scope, BillingPeriod(month, vendor))
    batch = await ready_batch(db, scope, month, vendor, list(company_ids))
    settings, missing = batch.whole.settings, {}
    parked = unready(closed=state.closed, parked=state.is_parked)
    for company_id, found in batch.found.items():
        try:
            drawn_up(found, settings, month=month, vendor=vendor, at=clock.now())
        except CannotBeBilled as refusal:
            missing[company_id] = refusal.reason
        else:
            missing |= {company_id: parked} if parked else {}
    _refuse_missing(missing)


# by run, so that however many wait for one in this process, it is asked for once
_finishing: dict[str, asyncio.Task[InvoicesCreated]] = {}


async def finished_run(
    engine: AsyncEngine, do_now: RunJobNow, scope: TenantScope, run_id: str
) -> InvoicesCreated:
    """Made here and now, or waited for where somebody else makes it; goes on without a listener."""
    task = _finishing.get(run_id)
    if task is None:
        task = asyncio.create_task(_finished(engine, do_now, scope, run_id))
        _finishing[run_id] = task
        task.add_done_callback(lambda _: _finishing.pop(run_id, None))
    return await asyncio.shield(task)


async def _finished(
    engine: AsyncEngine, do_now: RunJobNow, scope: TenantScope, run_id: str
) -> InvoicesCreated:
    while True:
        async with transaction(engine, scope.organisation_id) as db:
            run = await run_records.find_run(db, scope, run_id)
            assert run is not None, "a run is never deleted"
            if run.state == "done":
                made = await stored_invoices.made_by_run(db, scope, run_id)
                skipped = exact_json.read_own(run.skipped)
                break
        if not await do_now(scope, run.work_id):
            await asyncio.sleep(LOOK_AGAIN.total_seconds())
    if not made:
        raise _lacking("no_group_ready", "no billing group can be billed", skipped)
    return InvoicesCreated(
        created=[
            CreatedInvoice(
                company_id=row.company_id,
                vendor=row.vendor,
                invoice_no=stored_invoices.invoice_no(row.month, row.number),
            )
            for row in made
        ],
        skipped=[SkippedGroup(company_id=name, reason=why) for name, why in skipped.items()],
    )
