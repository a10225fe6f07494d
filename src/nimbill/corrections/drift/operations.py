"""Decides about the late costs of a customer, once: the checks in order, then the document."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.approvals.requirement import ApprovedRequest
from nimbill.corrections.drift import group_records
from nimbill.corrections.drift.bodies import (
    DriftDecision,
    DriftDecisionRequest,
    DriftOfGroup,
    LateCostSum,
)
from nimbill.corrections.drift.correction_entries import add_correction_entry
from nimbill.corrections.replacements.operations import (
    lock_replaceable_invoice,
    replace_with_correction,
)
from nimbill.costs.months.records import lock_month
from nimbill.credit_notes.corrected_invoices import records
from nimbill.credit_notes.corrected_invoices.late_costs import (
    correct_with_import,
    group_late_costs,
    load_drift_import,
    load_late_costs,
)
from nimbill.credit_notes.corrected_invoices.records import DriftDecisionKind
from nimbill.credit_notes.corrections import apply_corrected_terms, issue_correction
from nimbill.credit_notes.operations import (
    load_notes_of_invoice,
    lock_credited_invoice,
)
from nimbill.customers.billing_groups.records import is_billing_group_visible
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import Currency
from nimbill.foundation.errors import Conflict, not_found
from nimbill.foundation.money import add_decimals, strip_zeros, subtract_decimals
from nimbill.imports.records import ImportRecord
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.late_cost import LateCost
from nimbill.invoicing.documents.stored_invoices import lock_invoices

ZERO = Decimal(0)


async def list_drift(db: AsyncConnection, scope: TenantScope, import_id: str) -> list[DriftOfGroup]:
    """List the customers with late costs in an import, by billinggroup_id."""
    found, period = await load_drift_import(db, scope, import_id)
    decided = {
        row.company_id: _build_decision(row)
        for row in await records.list_decisions_of_import(db, scope, import_id)
    }
    no_costs: dict[str, list[LateCost]] = {company_id: [] for company_id in decided}
    by_group = no_costs | await group_late_costs(db, scope, found, period)
    numbers = await records.load_invoice_numbers(db, scope, period)
    return [
        DriftOfGroup(
            company_id=row.company_id,
            billinggroup_id=row.billinggroup_id,
            billinggroup_name=row.billinggroup_name,
            late_costs=_sum_costs(by_group[row.company_id]),
            invoice_no=numbers.get(row.company_id),
            decision=decided.get(row.company_id),
        )
        for row in await group_records.list_groups(db, scope, by_group)
    ]


def _sum_costs(costs: Iterable[LateCost]) -> list[LateCostSum]:
    sums: defaultdict[str, dict[bool, Decimal]] = defaultdict(lambda: {False: ZERO, True: ZERO})
    for cost in costs:
        of_currency = sums[cost.currency]
        of_currency[cost.one_off] = add_decimals(of_currency[cost.one_off], cost.amount)
    return [
        LateCostSum(
            currency=currency,
            usage=strip_zeros(amounts[False]),
            one_off_lines=strip_zeros(amounts[True]),
        )
        for currency, amounts in sorted(sums.items())
    ]


async def decide(
    db: AsyncConnection,
    scope: TenantScope,
    import_id: str,
    company_id: str,
    body: DriftDecisionRequest,
    *,
    by: str,
    approved: ApprovedRequest | None = None,
) -> DriftDecision:
    """Decide once; the lock of the month's invoices makes a second request wait and fail.

    The month must still be closed: an open one is imported again.
    """
    found, period = await load_drift_import(db, scope, import_id)
    if not await is_billing_group_visible(db, scope, company_id):
        raise not_found()
    state = await lock_month(db, scope, period, shared=True)
    existing = await lock_invoices(db, scope, period, [company_id])
    if any(
        row.company_id == company_id
        for row in await records.list_decisions_of_import(db, scope, import_id)
    ):
        raise _already_decided()
    own_costs = await load_late_costs(db, scope, found, period, company_id)
    if not state.closed:
        raise Conflict("month_open", "The month was reopened. Import the delivery again instead.")
    values: dict[str, Any] = {"late_costs": records.encode_late_costs(own_costs)}
    if body.decision is not DriftDecisionKind.dismissed:
        if company_id not in existing:
            raise Conflict("invoice_missing", "The customer has no invoice that can be corrected.")
        values = await _settle(db, scope, found, period, company_id, body, by=by, approved=approved)
    try:
        async with db.begin_nested():
            await records.add_decision(
                db,
                scope,
                import_id=import_id,
                company_id=company_id,
                vendor=period.vendor,
                month=period.month,
                decision=body.decision,
                reason=body.reason,
                decided_by=by,
                **values,
            )
    except IntegrityError:
        raise _already_decided() from None
    (row,) = [
        row
        for row in await records.list_decisions_of_import(db, scope, import_id)
        if row.company_id == company_id
    ]
    return _build_decision(row)


def _already_decided() -> Conflict:
    return Conflict(
        "already_decided",
        "Somebody decided about these late costs already. A decision is reversed only by another "
        "document.",
    )


async def _settle(
    db: AsyncConnection,
    scope: TenantScope,
    found: ImportRecord,
    period: BillingPeriod,
    company_id: str,
    body: DriftDecisionRequest,
    *,
    by: str,
    approved: ApprovedRequest | None,
) -> dict[str, Any]:
    """Create the document that settles the late costs; return what the decision records of it."""
    if body.decision is DriftDecisionKind.replacement:
        invoice = await lock_replaceable_invoice(db, scope, period, company_id)
    elif body.decision is DriftDecisionKind.credit_note:
        invoice, _ = await lock_credited_invoice(db, scope, period, company_id)
    else:
        invoice = await group_records.load_owed_invoice(db, scope, period, company_id)
    notes = await load_notes_of_invoice(db, scope, invoice)
    base = apply_corrected_terms(invoice, notes)
    corrected = await correct_with_import(
        db, scope, found, base, one_off_lines=bool(body.one_off_lines)
    )
    values: dict[str, Any] = {
        "invoice_no": invoice.invoice_no,
        "late_costs": records.encode_late_costs(corrected.late_costs),
        "currency": invoice.currency.value,
    }
    by_import = {"import_id": found.import_id, "reason": body.reason, "by": by}
    if body.decision is DriftDecisionKind.entry:
        assert body.entry_month is not None, "the body requires it"
        entry = await add_correction_entry(
            db, scope, invoice, corrected, import_id=found.import_id, month=body.entry_month
        )
        return values | entry
    if body.decision is DriftDecisionKind.replacement:
        _refuse_unchanged(invoice, corrected)
        number = await replace_with_correction(
            db, scope, invoice, corrected, approved=approved, **by_import
        )
        pre_tax = subtract_decimals(corrected.sheet.pre_tax, invoice.sheet.pre_tax)
        return values | {"replacement_no": number, "pre_tax": pre_tax}
    note = await issue_correction(
        db, scope, invoice, notes, corrected, approved=approved, **by_import
    )
    return values | {
        "credit_note_id": note.credit_note_id,
        "pre_tax": note.pre_tax.copy_negate(),
    }


def _refuse_unchanged(invoice: InvoiceDocument, corrected: InvoiceDocument) -> None:
    if corrected.sheet.total == invoice.sheet.total:
        raise Conflict("nothing_to_correct", "The late costs do not change the invoice.")


def _build_decision(row: Row) -> DriftDecision:
    return DriftDecision(
        import_id=row.import_id,
        company_id=row.company_id,
        decision=DriftDecisionKind(row.decision),
        reason=row.reason,
        invoice_no=row.invoice_no,
        currency=None if row.currency is None else Currency(row.currency),
        pre_tax=row.pre_tax,
        entry_id=row.entry_id,
        entry_month=row.entry_month,
        credit_note_id=row.credit_note_id,
        replacement_no=row.replacement_no,
        decide_time=clock.format_timestamp(row.decide_time),
        decided_by=row.decided_by,
    )
