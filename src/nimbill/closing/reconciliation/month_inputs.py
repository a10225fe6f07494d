"""Loads the stored data of a period that the tie-out compares, and identifies it.

Loading everything takes seconds for a month of 5,000 billing groups. The documents of the invoices,
the vendor's sums and the accounts are nearly all of it. A document belongs to a revision, which
never changes, and the sums of a payer to an import; of the accounts the database computes a digest.
So a fingerprint of these three and of the rest identifies what is compared.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

import nimbill
from nimbill.adjustments.recalculation.records import recalculation_entries
from nimbill.adjustments.reserved_instances.moved_fees import MovedFee, list_moved_fees
from nimbill.closing.reconciliation.applied_entries import BilledEntry, InvoicedEntries
from nimbill.closing.reconciliation.tie_out import (
    AccountOwner,
    ChargedAmount,
    EntryAmount,
    InvoicedUsage,
    ServiceKey,
)
from nimbill.costs.lake.records import cost_months, cost_sums
from nimbill.costs.months.records import MonthState
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import TenantScope, of_period, of_tenant
from nimbill.foundation import exact_json
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.currency import CURRENCIES
from nimbill.foundation.money import add_decimals, subtract_decimals
from nimbill.foundation.vendors import Vendor
from nimbill.invoicing.documents.document import InvoicedAmounts, decode_invoiced_amounts
from nimbill.invoicing.documents.stored_invoices import (
    StoredInvoice,
    format_invoice_no,
    invoices,
    load_invoices,
)

COMPARISON = 2  # increased when the same data would be compared otherwise

_accounts = cloud_accounts.c
_CURRENCY_CODES = {currency: code for code, currency in CURRENCIES.items()}


class ComparedImport(NamedTuple):
    """The import that the sums of a payer come from."""

    payer_id: str
    import_id: str
    provisional: bool
    lines: int
    update_time: datetime


class InvoiceHead(NamedTuple):
    """Identifies the document of an invoice; documents never change."""

    company_id: str
    invoice_no: str
    revision: int
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthInputs:
    """What is compared beside the sums of the imports, the invoices and the accounts."""

    period: BillingPeriod
    moved_fees: Sequence[MovedFee]
    entries: Sequence[EntryAmount]
    applied: Sequence[BilledEntry]
    imports: Sequence[ComparedImport]

    def compute_fingerprint(self, heads: Iterable[InvoiceHead], accounts_digest: str) -> str:
        """Equal only if the same data is compared in the same way."""
        parts: tuple[Iterable[object], ...] = (
            [(COMPARISON, nimbill.__version__, accounts_digest), self.period],
            heads,
            self.imports,
            self.moved_fees,
            self.entries,
            self.applied,
        )
        # Rows come in any order. No encoded row is empty or contains a line break.
        texts = (b"\n".join(sorted(map(exact_json.encode, rows))) for rows in parts)
        return hashlib.sha256(b"\n\n".join(texts)).hexdigest()


class ComparedAmounts(NamedTuple):
    """The rest of what is compared."""

    charges: Sequence[ChargedAmount]
    invoices: Sequence[StoredInvoice[InvoicedAmounts]]
    accounts: Mapping[str, AccountOwner]
    cancelled: Sequence[InvoiceHead] = ()  # invoices that count for nothing

    @property
    def cancelled_groups(self) -> frozenset[str]:
        return frozenset(head.company_id for head in self.cancelled)

    def list_heads(self) -> list[InvoiceHead]:
        return [
            InvoiceHead(invoice.company_id, invoice.invoice_no, invoice.document.revision)
            for invoice in self.invoices
        ] + list(self.cancelled)


async def load_inputs(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod, state: MonthState
) -> MonthInputs:
    return MonthInputs(
        period=period,
        moved_fees=await list_moved_fees(db, scope, period, state),
        entries=await _load_entries(db, scope, period),
        applied=await _load_applied_entries(db, scope, period),
        imports=await _load_imports(db, scope, period),
    )


async def load_amounts(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> ComparedAmounts:
    """The caller holds the month's lock, so that no import replaces the sums."""
    return ComparedAmounts(
        charges=await _load_charges(db, scope, period),
        invoices=await load_invoices(
            db,
            scope,
            period.month,
            decode_invoiced_amounts,
            vendor=period.vendor,
            with_cancelled=False,
        ),
        accounts=await _load_accounts(db, scope, period.vendor),
        cancelled=[head for head in await list_invoice_heads(db, scope, period) if head.cancelled],
    )


async def list_invoice_heads(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[InvoiceHead]:
    stmt = sa.select(
        invoices.c.company_id,
        invoices.c.number,
        invoices.c.revision,
        invoices.c.cancelled_time.is_not(None),
    ).where(of_tenant(invoices, scope), of_period(invoices, period))
    return [
        InvoiceHead(company_id, format_invoice_no(period.month, number), revision, cancelled)
        for company_id, number, revision, cancelled in await db.execute(stmt)
    ]


def build_invoiced_usage(invoice: StoredInvoice[InvoicedAmounts]) -> InvoicedUsage:
    """The usage without late costs, which are not contained in what counts for the month."""
    document = invoice.document
    currency = _CURRENCY_CODES[document.cost_currency]
    usage: dict[ServiceKey, Decimal] = {}
    for charge in document.charges.usage:
        key = ServiceKey(charge.customer_id, charge.service, charge.marketplace, currency)
        known = usage.get(key)
        usage[key] = charge.amount if known is None else add_decimals(known, charge.amount)
    for cost in document.late_costs:
        if not cost.one_off:
            key = ServiceKey(cost.customer_id, cost.service, cost.marketplace, currency)
            usage[key] = subtract_decimals(usage.get(key, Decimal(0)), cost.amount)
    return InvoicedUsage(
        company_id=invoice.company_id,
        invoice_no=invoice.invoice_no,
        payers=tuple(payer_import.payer_id for payer_import in document.imports),
        usage=usage,
    )


def build_invoiced_entries(invoice: StoredInvoice[InvoicedAmounts]) -> InvoicedEntries:
    late = {cost.entry_id for cost in invoice.document.late_costs if cost.one_off}
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
            if entry.entry_id not in late
        ),
    )


async def _load_charges(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[ChargedAmount]:
    sums = cost_sums.c
    keys = (
        *(sums.payer_id, sums.kind),
        *(sums.customer_id, sums.service, sums.marketplace, sums.currency),
    )
    stmt = (
        sa.select(*keys, sa.func.sum(sums.cost))
        .where(of_tenant(cost_sums, scope), of_period(cost_sums, period))
        .group_by(*keys)
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
            of_tenant(recalculation_entries, scope),
            of_period(recalculation_entries, period),
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
        of_tenant(recalculation_entries, scope),
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
    stmt = sa.select(_accounts.customer_id, _accounts.company_id, _accounts.account_id)
    return {
        customer_id: AccountOwner(company_id, payer_id)
        for customer_id, company_id, payer_id in await db.execute(
            stmt.where(of_tenant(cloud_accounts, scope), _accounts.vendor == vendor)
        )
    }


async def load_accounts_digest(db: AsyncConnection, scope: TenantScope, vendor: Vendor) -> str:
    """The lengths tell where each id ends, whatever it contains."""
    lengths = (sa.func.length(_accounts.customer_id), sa.func.length(_accounts.company_id))
    row = sa.func.concat(
        *(lengths[0], " ", lengths[1], " "),
        *(_accounts.customer_id, _accounts.company_id, _accounts.account_id),
    )
    order = _accounts.customer_id.collate("C")
    rows = sa.func.coalesce(
        sa.func.string_agg(row, aggregate_order_by(sa.literal("\n"), order)), ""
    )
    digest = sa.func.encode(sa.func.sha256(sa.func.convert_to(rows, "UTF8")), "hex")
    stmt = sa.select(digest).where(of_tenant(cloud_accounts, scope), _accounts.vendor == vendor)
    return str((await db.execute(stmt)).scalar_one())


def digest_accounts(accounts: Mapping[str, AccountOwner]) -> str:
    """Compute what `load_accounts_digest` returns for the same accounts."""
    rows = (
        f"{len(customer_id)} {len(company_id)} {customer_id}{company_id}{payer_id}"
        for customer_id, (company_id, payer_id) in sorted(accounts.items())
    )
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


async def _load_imports(
    db: AsyncConnection, scope: TenantScope, period: BillingPeriod
) -> list[ComparedImport]:
    columns = (cost_months.c[name] for name in ComparedImport._fields)
    stmt = sa.select(*columns).where(of_tenant(cost_months, scope), of_period(cost_months, period))
    return [ComparedImport(*row) for row in await db.execute(stmt)]
