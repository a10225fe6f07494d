"""Loads the stored data of a month and ties it out, vendor by vendor."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.adjustments.reserved_instances.moved_fees import list_moved_fees
from nimbill.costs.lake.records import cost_sums
from nimbill.costs.months.records import lock_month
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import CURRENCIES
from nimbill.foundation.errors import not_found
from nimbill.foundation.money import add_decimals, strip_zeros
from nimbill.foundation.vendors import Vendor
from nimbill.invoicing.documents.document import InvoicedAmounts, decode_invoiced_amounts
from nimbill.invoicing.documents.stored_invoices import StoredInvoice, load_invoices
from nimbill.invoicing.reconciliation.applied_entries import (
    BilledEntry,
    EntryDifference,
    InvoicedEntries,
    compare_entries,
)
from nimbill.invoicing.reconciliation.bodies import (
    TieOut,
    TieOutAccount,
    TieOutCounts,
    TieOutDifference,
    TieOutEntryDifference,
    TieOutPayer,
    TieOutState,
)
from nimbill.invoicing.reconciliation.tie_out import (
    AccountOwner,
    AmountDifference,
    ChargedAmount,
    EntryAmount,
    InvoicedUsage,
    PayerStatement,
    ServiceKey,
    TieOutInput,
    TieOutResult,
    tie_out,
)
from nimbill.invoicing.runs.cost_records import list_imports

__all__ = ["TieOut"]  # also used by the command line

basis = chosen("tie-out")

ALL_ROWS = slice(None)
_CURRENCY_CODES = {currency: code for code, currency in CURRENCIES.items()}


async def load_tie_out(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    vendors: Iterable[Vendor],
    page: slice = ALL_ROWS,
) -> TieOut:
    """Users restricted to certain billing groups cannot see payers, so they get 404.

    `page` selects rows of each list except that of the payers.
    """
    if scope.billing_groups is not None:
        raise not_found()
    tie_outs = [
        await _load_vendor_tie_out(db, scope, BillingPeriod(month, vendor)) for vendor in vendors
    ]
    state = _combine_states({part.state for part in tie_outs})
    differences = [difference for part in tie_outs for difference in part.differences]
    entries = [entry for part in tie_outs for entry in part.entry_differences]
    accounts = [account for part in tie_outs for account in part.accounts_in_no_group]
    return TieOut(
        month=month,
        state=state,
        ties=state == TieOutState.ties,
        payers=[payer for part in tie_outs for payer in part.payers],
        differences=differences[page],
        entry_differences=entries[page],
        accounts_in_no_group=accounts[page],
        counts=TieOutCounts(
            differences=len(differences),
            entry_differences=len(entries),
            accounts_in_no_group=len(accounts),
        ),
    )


def _combine_states(states: Collection[TieOutState]) -> TieOutState:
    """A vendor without data does not matter unless no vendor has any."""
    for state in (TieOutState.differs, TieOutState.ties):
        if state in states:
            return state
    return TieOutState.nothing_to_compare


class _VendorTieOut(NamedTuple):
    """The lists of one vendor."""

    state: TieOutState
    payers: list[TieOutPayer]
    differences: list[TieOutDifference]
    entry_differences: list[TieOutEntryDifference]
    accounts_in_no_group: list[TieOutAccount]


async def _load_vendor_tie_out(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> _VendorTieOut:
    """Load under a lock that keeps out imports and changes to entries."""
    state = await lock_month(db, scope, period, shared=True)
    moved_fees = await list_moved_fees(db, scope, period, state)
    invoices = await load_invoices(
        db, scope, period.month, decode_invoiced_amounts, vendor=period.vendor
    )
    charges = await _load_charges(db, scope, period)
    entries = await _load_entries(db, scope, period)
    imports = {row.payer_id: row for row in await list_imports(db, scope, period)}
    accounts = await _load_accounts(db, scope, period.vendor)
    applied = await _load_applied_entries(db, scope, period)
    # in a thread, because other requests must not wait for the seconds that a large month takes
    result = await asyncio.to_thread(
        tie_out,
        TieOutInput(
            charges=charges,
            entries=entries,
            moved_fees=[
                (ServiceKey(fee.customer_id, fee.service, False, fee.currency), fee.amount)
                for fee in moved_fees
            ],
            invoices=[_build_invoiced_usage(invoice) for invoice in invoices],
            accounts=accounts,
        ),
    )
    entry_differences = compare_entries(
        applied,
        map(_build_invoiced_entries, invoices),
        {customer_id: account.company_id for customer_id, account in accounts.items()},
    )
    has_data = any((charges, entries, applied, moved_fees, invoices, imports))
    return _build_tie_out(period, result, entry_differences, imports, has_data=has_data)


def _build_tie_out(
    period: BillingPeriod,
    result: TieOutResult,
    entry_differences: Collection[EntryDifference],
    imports: Mapping[str, Row],
    *,
    has_data: bool,
) -> _VendorTieOut:
    ties = result.ties and not entry_differences
    state = TieOutState.ties if ties else TieOutState.differs
    if not has_data:
        state = TieOutState.nothing_to_compare
    return _VendorTieOut(
        state=state,
        payers=[
            TieOutPayer(
                vendor=period.vendor,
                payer_id=payer_id,
                currency=currency,
                import_id=imports[payer_id].import_id if payer_id in imports else None,
                provisional=payer_id in imports and imports[payer_id].provisional,
                **_format_amounts(statement),
            )
            for (payer_id, currency), statement in result.statements.items()
        ],
        differences=[
            _build_difference(period.vendor, difference) for difference in result.differences
        ],
        entry_differences=[
            _build_entry_difference(period.vendor, difference) for difference in entry_differences
        ],
        accounts_in_no_group=[
            TieOutAccount(
                vendor=period.vendor,
                payer_id=payer_id,
                customer_id=customer_id,
                currency=currency,
                amount=strip_zeros(amount),
            )
            for (payer_id, customer_id, currency), amount in result.in_no_group.items()
        ],
    )


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


def _build_invoiced_usage(invoice: StoredInvoice[InvoicedAmounts]) -> InvoicedUsage:
    document = invoice.document
    currency = _CURRENCY_CODES[document.cost_currency]
    usage: defaultdict[ServiceKey, Decimal] = defaultdict(Decimal)
    for charge in document.charges.usage:
        key = ServiceKey(charge.customer_id, charge.service, charge.marketplace, currency)
        usage[key] = add_decimals(usage[key], charge.amount)
    return InvoicedUsage(
        company_id=invoice.company_id,
        invoice_no=invoice.invoice_no,
        payers=tuple(payer_import.payer_id for payer_import in document.imports),
        usage=usage,
    )


def _build_invoiced_entries(invoice: StoredInvoice[InvoicedAmounts]) -> InvoicedEntries:
    return InvoicedEntries(
        company_id=invoice.company_id,
        invoice_no=invoice.invoice_no,
        entries=tuple(
            BilledEntry(
                entry_id=entry.entry_id,
                customer_id=entry.customer_id,
                currency=_CURRENCY_CODES[entry.currency],
                amount=entry.amount,
                exchange_rate=entry.exchange_rate,
                tax_free=entry.tax_free,
            )
            for entry in invoice.document.charges.entries
        ),
    )


async def _load_charges(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[ChargedAmount]:
    sums = cost_sums.c
    columns = (
        sums.payer_id,
        sums.kind,
        sums.customer_id,
        sums.service,
        sums.marketplace,
        sums.currency,
    )
    stmt = (
        sa.select(*columns, sa.func.sum(sums.cost).label("cost"))
        .where(
            sums.organisation_id == scope.organisation_id,
            sums.vendor == period.vendor,
            sums.month == period.month,
        )
        .group_by(*columns)
    )
    return [
        ChargedAmount(payer_id, kind, ServiceKey(customer_id, service, marketplace, code), cost)
        for payer_id, kind, customer_id, service, marketplace, code, cost in await db.execute(stmt)
    ]


async def _load_entries(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[EntryAmount]:
    """Load sums of the entries that the vendor's latest data contains."""
    entries = recalculation_entries.c
    applied = entries.applied_month.is_not(None).label("applied")
    columns = (entries.payer_id, entries.customer_id, entries.currency_code, applied)
    stmt = (
        sa.select(*columns, sa.func.sum(entries.unblended_cost).label("cost"))
        .where(
            entries.organisation_id == scope.organisation_id,
            entries.vendor == period.vendor,
            entries.month == period.month,
            entries.delivered,
        )
        .group_by(*columns)
    )
    return [
        EntryAmount(
            payer_id=row.payer_id,
            customer_id=row.customer_id,
            currency=row.currency_code,
            amount=row.cost,
            applied=row.applied,
        )
        for row in await db.execute(stmt)
    ]


async def _load_applied_entries(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[BilledEntry]:
    """Load the entries applied to the month, of this month and of earlier ones."""
    stmt = sa.select(recalculation_entries).where(
        recalculation_entries.c.organisation_id == scope.organisation_id,
        recalculation_entries.c.vendor == period.vendor,
        recalculation_entries.c.applied_month == period.month,
    )
    return [
        BilledEntry(
            entry_id=row.entry_id,
            customer_id=row.customer_id,
            currency=row.currency_code,
            amount=row.unblended_cost,
            exchange_rate=row.exchange_rate,
            tax_free=row.tax_free,
        )
        for row in await db.execute(stmt)
    ]


async def _load_accounts(
    db: AsyncConnection, scope: TenantScope, vendor: Vendor
) -> dict[str, AccountOwner]:
    stmt = sa.select(
        cloud_accounts.c.customer_id, cloud_accounts.c.company_id, cloud_accounts.c.account_id
    ).where(
        cloud_accounts.c.organisation_id == scope.organisation_id,
        cloud_accounts.c.vendor == vendor,
    )
    return {
        customer_id: AccountOwner(company_id, payer_id)
        for customer_id, company_id, payer_id in await db.execute(stmt)
    }
