"""Ties out a month, vendor by vendor."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.closing.reconciliation.applied_entries import EntryDifference, compare_entries
from nimbill.closing.reconciliation.bodies import (
    TieOut,
    TieOutAccount,
    TieOutCounts,
    TieOutDifference,
    TieOutEntryDifference,
    TieOutLateCost,
    TieOutPayer,
    TieOutState,
)
from nimbill.closing.reconciliation.month_inputs import (
    ComparedAmounts,
    MonthInputs,
    build_invoiced_entries,
    build_invoiced_usage,
    digest_accounts,
    list_invoice_heads,
    load_accounts_digest,
    load_amounts,
    load_inputs,
)
from nimbill.closing.reconciliation.stored_results import (
    TieOutLists,
    TieOutSummary,
    VendorTieOut,
    decode_result,
    encode_result,
    find_result,
    store_result,
)
from nimbill.closing.reconciliation.tie_out import (
    AmountDifference,
    PayerStatement,
    ServiceKey,
    TieOutInput,
    TieOutResult,
    tie_out,
)
from nimbill.costs.months.records import lock_month
from nimbill.credit_notes.corrected_invoices.records import (
    DriftDecisionKind,
    decode_late_costs,
    list_decisions_of_month,
)
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import not_found
from nimbill.foundation.money import add_decimals, strip_zeros, subtract_decimals
from nimbill.foundation.vendors import Vendor

__all__ = ["TieOut"]  # also used by the command line

ALL_ROWS = slice(None)

ZERO = Decimal(0)


async def load_tie_out(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendors: Sequence[Vendor],
    page: slice = ALL_ROWS,
    *,
    from_data: bool,
) -> TieOut:
    """Users restricted to certain billing groups cannot see payers, so they get 404.

    `page` selects rows of each list except that of the payers. Without `from_data`, the stored
    result is returned if it was computed from the same data.
    """
    results = {}
    late_costs: list[TieOutLateCost] = []
    # sorted, so that two requests that store results do not wait for each other
    for vendor in sorted(vendors):
        results[vendor] = await _tie_out_vendor(
            db, scope, BillingPeriod(month, vendor), from_data=from_data, with_lists=True
        )
        decisions = await list_decisions_of_month(db, scope, BillingPeriod(month, vendor))
        late_costs += list_late_costs(vendor, decisions)
    summaries = [results[vendor].summary for vendor in vendors]
    lists = [results[vendor].lists for vendor in vendors]
    state = _combine_states({summary.state for summary in summaries})
    differences = [row for part in lists for row in part.differences]
    entries = [row for part in lists for row in part.entry_differences]
    accounts = [row for part in lists for row in part.accounts_in_no_group]
    return TieOut(
        month=month,
        state=state,
        ties=state == TieOutState.ties,
        payers=[payer for summary in summaries for payer in summary.payers],
        differences=differences[page],
        entry_differences=entries[page],
        accounts_in_no_group=accounts[page],
        late_costs=late_costs[page],
        counts=TieOutCounts(
            differences=len(differences),
            entry_differences=len(entries),
            accounts_in_no_group=len(accounts),
        ),
    )


async def load_differing_subjects(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, *, from_data: bool
) -> Mapping[str, Collection[str]]:
    """Map each reason of a difference to the groups, or else payers or accounts, that have one."""
    result = await _tie_out_vendor(db, scope, period, from_data=from_data, with_lists=False)
    return result.summary.subjects


def _combine_states(states: Collection[TieOutState]) -> TieOutState:
    """A vendor without data does not matter unless no vendor has any."""
    for state in (TieOutState.differs, TieOutState.ties):
        if state in states:
            return state
    return TieOutState.nothing_to_compare


async def _tie_out_vendor(
    db: AsyncConnection,
    scope: TenantScope,
    period: BillingPeriod,
    *,
    from_data: bool,
    with_lists: bool,
) -> VendorTieOut:
    """Compare under a lock that keeps out imports.

    The work of a large month is done in a thread, because other requests must not wait for it.
    """
    if scope.billing_groups is not None:
        raise not_found()
    state = await lock_month(db, scope, period, shared=True)
    inputs = await load_inputs(db, scope, period, state)
    if not from_data:
        heads = await list_invoice_heads(db, scope, period)
        digest = await load_accounts_digest(db, scope, period.vendor)
        fingerprint = await asyncio.to_thread(inputs.compute_fingerprint, heads, digest)
        found = await find_result(db, scope, period, fingerprint, with_lists=with_lists)
        if found is not None:
            return await asyncio.to_thread(decode_result, found)
    amounts = await load_amounts(db, scope, period)
    result = await asyncio.to_thread(_compare, inputs, amounts)
    if not from_data and result.summary.state != TieOutState.nothing_to_compare:
        fingerprint = await asyncio.to_thread(_identify, inputs, amounts)
        encoded = await asyncio.to_thread(encode_result, result)
        await store_result(db, scope, period, fingerprint, encoded)
    return result


def _identify(inputs: MonthInputs, amounts: ComparedAmounts) -> str:
    """The fingerprint of what was compared, which can be newer than what was looked up before."""
    return inputs.compute_fingerprint(amounts.list_heads(), digest_accounts(amounts.accounts))


def _compare(inputs: MonthInputs, amounts: ComparedAmounts) -> VendorTieOut:
    result = tie_out(
        TieOutInput(
            charges=amounts.charges,
            entries=inputs.entries,
            moved_fees=[
                (ServiceKey(fee.customer_id, fee.service, False, fee.currency), fee.amount)
                for fee in inputs.moved_fees
            ],
            invoices=[build_invoiced_usage(invoice) for invoice in amounts.invoices],
            accounts=amounts.accounts,
            cancelled_groups=amounts.cancelled_groups,
        )
    )
    entry_differences = compare_entries(
        inputs.applied,
        map(build_invoiced_entries, amounts.invoices),
        {customer_id: account.company_id for customer_id, account in amounts.accounts.items()},
    )
    has_data = any(
        (
            *(amounts.charges, amounts.invoices),
            *(inputs.entries, inputs.applied, inputs.moved_fees, inputs.imports),
        )
    )
    return _build_result(inputs, result, entry_differences, has_data=has_data)


def _build_result(
    inputs: MonthInputs,
    result: TieOutResult,
    entry_differences: Collection[EntryDifference],
    *,
    has_data: bool,
) -> VendorTieOut:
    vendor = inputs.period.vendor
    ties = result.ties and not entry_differences
    state = TieOutState.ties if ties else TieOutState.differs
    if not has_data:
        state = TieOutState.nothing_to_compare
    lists = TieOutLists(
        differences=[_build_difference(vendor, difference) for difference in result.differences],
        entry_differences=[
            _build_entry_difference(vendor, difference) for difference in entry_differences
        ],
        accounts_in_no_group=[
            TieOutAccount(
                vendor=vendor,
                payer_id=payer_id,
                customer_id=customer_id,
                currency=currency,
                amount=strip_zeros(amount),
            )
            for (payer_id, customer_id, currency), amount in result.in_no_group.items()
        ],
    )
    payers = list(_build_payers(inputs, result))
    summary = TieOutSummary(
        state=state,
        payers=payers,
        counts=TieOutCounts(
            differences=len(lists.differences),
            entry_differences=len(lists.entry_differences),
            accounts_in_no_group=len(lists.accounts_in_no_group),
        ),
        subjects={} if ties else _list_subjects(lists, payers),
    )
    return VendorTieOut(summary, lists)


def _build_payers(inputs: MonthInputs, result: TieOutResult) -> Iterator[TieOutPayer]:
    imports = {counted.payer_id: counted for counted in inputs.imports}
    for (payer_id, currency), statement in result.statements.items():
        counted = imports.get(payer_id)
        yield TieOutPayer(
            vendor=inputs.period.vendor,
            payer_id=payer_id,
            currency=currency,
            import_id=counted.import_id if counted else None,
            provisional=counted is not None and counted.provisional,
            **_format_amounts(statement),
        )


def _list_subjects(lists: TieOutLists, payers: Iterable[TieOutPayer]) -> dict[str, list[str]]:
    subjects: defaultdict[str, set[str]] = defaultdict(set)
    for difference in lists.differences:
        subjects[difference.reason].add(difference.company_id or difference.payer_id)
    for entry in lists.entry_differences:
        subjects[entry.reason].add(entry.company_id or entry.customer_id)
    if not subjects:
        subjects["not_tied_out"] = {payer.payer_id for payer in payers if payer.difference}
    return {reason: sorted(found) for reason, found in subjects.items()}


def _format_amounts(statement: PayerStatement) -> dict[str, Decimal]:
    amounts = {
        "total": statement.total,
        "moved_fees": statement.moved_fees,
        "invoiced": statement.invoiced,
        "in_no_group": statement.in_no_group,
        "entries_applied": statement.entries_applied,
        "entries_unapplied": statement.entries_unapplied,
        **{kind: statement.by_kind[kind] for kind in ("tax", "discount", "unknown")},
        "difference": statement.difference,
    }
    return {name: strip_zeros(amount) for name, amount in amounts.items()}


def _build_difference(vendor: Vendor, difference: AmountDifference) -> TieOutDifference:
    return TieOutDifference(
        vendor=vendor,
        payer_id=difference.payer_id,
        reason=difference.reason,
        company_id=difference.company_id,
        invoice_no=difference.invoice_no,
        customer_id=difference.key.customer_id,
        service=difference.key.service,
        marketplace=difference.key.marketplace,
        currency=difference.key.currency,
        invoiced=strip_zeros(difference.invoiced),
        counts=strip_zeros(difference.charged),
        difference=strip_zeros(difference.amount),
    )


def _build_entry_difference(vendor: Vendor, difference: EntryDifference) -> TieOutEntryDifference:
    return TieOutEntryDifference(
        vendor=vendor,
        reason=difference.reason,
        company_id=difference.company_id,
        invoice_no=difference.invoice_no,
        entry_id=difference.entry_id,
        customer_id=difference.customer_id,
        currency=difference.currency,
        invoiced=strip_zeros(difference.invoiced),
        applied=strip_zeros(difference.applied),
        difference=strip_zeros(difference.amount),
    )


def list_late_costs(vendor: Vendor, decisions: Iterable[Row]) -> Iterator[TieOutLateCost]:
    """Yield what each decision adds to the one before for the same invoice, the oldest first.

    A decision contains everything that is settled with it. What was dismissed settles nothing.
    """
    settled: dict[tuple[str, str], dict[str, Decimal]] = {}
    for row in decisions:
        costs = _sum_costs(row.late_costs)
        before: dict[str, Decimal] = {}
        if row.decision != DriftDecisionKind.dismissed:
            before = settled.pop((row.company_id, row.invoice_no), {})
            settled[row.company_id, row.replacement_no or row.invoice_no] = costs
        for currency in sorted(costs.keys() | before.keys()):
            amount = subtract_decimals(costs.get(currency, ZERO), before.get(currency, ZERO))
            yield TieOutLateCost(
                vendor=vendor,
                import_id=row.import_id,
                company_id=row.company_id,
                invoice_no=row.invoice_no,
                decision=DriftDecisionKind(row.decision),
                currency=currency,
                amount=strip_zeros(amount),
            )


def _sum_costs(late_costs: str) -> dict[str, Decimal]:
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    for cost in decode_late_costs(late_costs):
        sums[cost.currency] = add_decimals(sums[cost.currency], cost.amount)
    return dict(sums)
