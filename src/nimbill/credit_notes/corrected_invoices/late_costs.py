"""Loads the late costs of a customer: what an import into a closed month would change."""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.credit_notes.corrected_invoices import records
from nimbill.credit_notes.corrected_invoices.corrected_invoice import correct_costs
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import Conflict, not_found
from nimbill.imports.records import ImportRecord, ImportState, find_import
from nimbill.invoicing.calculation.terms import CannotBeBilled
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.late_cost import LateCost
from nimbill.invoicing.runs.cost_records import list_imports

ONE_OFF = "entry"  # the kind of a one-off line


async def load_drift_import(
    db: AsyncConnection, scope: TenantScope, import_id: str
) -> tuple[ImportRecord, BillingPeriod]:
    """Return an import that found late costs, and its month.

    Imports belong to all groups: callers restricted to some of them cannot see any.
    """
    found = await find_import(db, scope, import_id)
    if found is None:
        raise not_found()
    if found.state != ImportState.drift or found.month is None:
        raise Conflict("not_drift", "The import found no late costs of a closed month.")
    return found, BillingPeriod(found.month, found.vendor)


def list_late_costs(found: ImportRecord) -> list[LateCost]:
    """List all late costs of an import, of usage and of one-off lines."""
    return [
        LateCost(
            payer_id=proposal.payer_id,
            customer_id=proposal.customer_id,
            service=proposal.service,
            marketplace=proposal.marketplace,
            currency=proposal.currency,
            amount=proposal.amount,
            description=proposal.description,
            one_off=proposal.kind == ONE_OFF,
        )
        for proposal in found.proposals
    ]


async def load_late_costs(
    db: AsyncConnection,
    scope: TenantScope,
    found: ImportRecord,
    period: BillingPeriod,
    company_id: str,
) -> list[LateCost]:
    """List the late costs of one customer; 404 if the import does not concern it."""
    by_group = await group_late_costs(db, scope, found, period)
    if company_id not in by_group:
        raise not_found()
    return by_group[company_id]


async def group_late_costs(
    db: AsyncConnection, scope: TenantScope, found: ImportRecord, period: BillingPeriod
) -> dict[str, list[LateCost]]:
    """Map each customer about whom somebody has to decide to its late costs in an import.

    A customer for whom earlier late costs of the same payers were settled is concerned, even if
    the import takes them back and there are none any more.
    """
    costs, payers = list_late_costs(found), list_payers(found)
    owners = await records.find_owners(db, scope, period, {cost.customer_id for cost in costs})
    settled = await records.load_settled_costs(db, scope, period)
    by_group: dict[str, list[LateCost]] = {
        company_id: []
        for company_id, earlier in settled.items()
        if any(cost.payer_id in payers for cost in earlier)
    }
    for cost in costs:
        if cost.customer_id in owners:
            by_group.setdefault(owners[cost.customer_id], []).append(cost)
    return by_group


def combine_late_costs(
    late_costs: Iterable[LateCost],
    settled: Iterable[LateCost],
    payers: Collection[str],
    *,
    one_off_lines: bool,
) -> list[LateCost]:
    """Return the late costs of an import with those that were settled before.

    The import replaces what was settled for its own payers; for one-off lines, only if they are
    billed now.
    """
    new = [cost for cost in late_costs if one_off_lines or not cost.one_off]
    kept = [
        cost
        for cost in settled
        if cost.payer_id not in payers or (cost.one_off and not one_off_lines)
    ]
    return new + kept


def list_payers(found: ImportRecord) -> set[str]:
    return {total.payer_id for total in found.totals} | {
        proposal.payer_id for proposal in found.proposals
    }


async def _refuse_other_costs(
    db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument
) -> None:
    """Late costs are differences to what counts, which must be what the invoice was created from.

    It is not if the month was reopened and imported again, or closed with such a difference.
    """
    period = BillingPeriod(invoice.month, invoice.vendor)
    current = {row.payer_id: row.import_id for row in await list_imports(db, scope, period)}
    if any(current.get(each.payer_id) != each.import_id for each in invoice.imports):
        raise Conflict(
            "costs_replaced",
            "The invoice was not created from the costs that count now. Reopen the month and "
            "replace the invoice, or issue a credit note by hand.",
        )


async def correct_with_import(
    db: AsyncConnection,
    scope: TenantScope,
    found: ImportRecord,
    invoice: InvoiceDocument,
    *,
    one_off_lines: bool,
) -> InvoiceDocument:
    """Return the invoice as it would be with the costs of a late delivery.

    The invoice has its corrected terms already. One-off lines are billed only if somebody decides
    so, as in an open month.
    """
    period = BillingPeriod(invoice.month, invoice.vendor)
    own = await load_late_costs(db, scope, found, period, invoice.company_id)
    await _refuse_other_costs(db, scope, invoice)
    settled = await _load_settled_costs(db, scope, invoice)
    costs = combine_late_costs(own, settled or (), list_payers(found), one_off_lines=one_off_lines)
    try:
        return await _correct_costs(db, scope, invoice, costs)
    except CannotBeBilled:
        raise Conflict(
            "other_currency", "The late costs have another currency than those of the invoice."
        ) from None


async def apply_settled_costs(
    db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument
) -> InvoiceDocument:
    """Return the invoice with the late costs that were settled already."""
    settled = await _load_settled_costs(db, scope, invoice)
    return invoice if settled is None else await _correct_costs(db, scope, invoice, settled)


async def _load_settled_costs(
    db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument
) -> Sequence[LateCost] | None:
    """The last decision has all that is settled; None without one."""
    decisions = await records.list_applied_decisions(db, scope, invoice)
    return records.decode_late_costs(decisions[-1].late_costs) if decisions else None


async def _correct_costs(
    db: AsyncConnection, scope: TenantScope, invoice: InvoiceDocument, costs: Sequence[LateCost]
) -> InvoiceDocument:
    names = await records.load_account_names(
        db, scope, invoice.vendor, {cost.customer_id for cost in costs}
    )
    return correct_costs(invoice, costs, names)


async def list_undecided_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, import_ids: Sequence[str]
) -> list[str]:
    """List those of the imports with late costs about which somebody still has to decide.

    An import is decided when all of its customers are, or when a later one of the same payers is.
    Late costs that belong to no customer stay in the list: nobody can decide about them yet.
    """
    undecided: list[str] = []
    decided_payers: set[str] = set()
    for import_id in reversed(import_ids):  # the newest first
        found = await find_import(db, scope, import_id)
        assert found is not None, "an import is never deleted"
        payers = list_payers(found)
        if payers and payers <= decided_payers:
            continue
        if await _is_decided(db, scope, period, found):
            decided_payers |= payers
        else:
            undecided.append(import_id)
    return undecided[::-1]


async def _is_decided(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, found: ImportRecord
) -> bool:
    groups = await group_late_costs(db, scope, found, period)
    rows = await records.list_decisions_of_import(db, scope, found.import_id)
    has_owners = bool(groups) or not (found.proposals or found.drift)
    return has_owners and groups.keys() <= {row.company_id for row in rows}
