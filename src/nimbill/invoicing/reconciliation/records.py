"""What is stored of a month, brought together for its tie-out, vendor by vendor."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.adjustments.recalculation.records import plain, recalculation_entries
from nimbill.adjustments.reserved_instances.operations import moved_fees
from nimbill.costs.lake.records import cost_sums
from nimbill.costs.months.records import lock_month
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.errors import not_found
from nimbill.foundation.money import total_of
from nimbill.foundation.vendors import Vendor
from nimbill.invoicing.documents.document import InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import Created, created_of_month
from nimbill.invoicing.reconciliation import tie_out
from nimbill.invoicing.reconciliation.bodies import (
    TieOut,
    TieOutAccount,
    TieOutDifference,
    TieOutPayer,
)
from nimbill.invoicing.runs.build_invoice import CURRENCIES
from nimbill.invoicing.runs.invoice_inputs import imports_of_month

__all__ = ["TieOut"]  # the command line speaks of them too

basis = chosen("tie-out")

_CODES = {currency: code for code, currency in CURRENCIES.items()}


async def tie_out_month(
    db: AsyncConnection, scope: TenantScope, month: str, vendors: Iterable[Vendor]
) -> TieOut:
    """Payers are whole organisations' matters: not there for who sees some billing groups."""
    if scope.billing_groups is not None:
        raise not_found()
    parts = [await _of_vendor(db, scope, month, vendor) for vendor in vendors]
    return TieOut(
        month=month,
        ties=all(part.ties for part in parts),
        payers=[one for part in parts for one in part.payers],
        differences=[one for part in parts for one in part.differences],
        accounts_in_no_group=[one for part in parts for one in part.accounts_in_no_group],
    )


async def _of_vendor(db: AsyncConnection, scope: TenantScope, month: str, vendor: Vendor) -> TieOut:
    """Under the month's lock, so that no import comes in between."""
    await lock_month(db, scope, BillingPeriod(month, vendor), shared=True)
    moved = await moved_fees(db, scope, vendor, month)
    found = tie_out.tie_out(
        tie_out.Month(
            charged=await _charged(db, scope, month, vendor),
            entries=await _entries(db, scope, month, vendor),
            moved=[
                (tie_out.Service(one.customer_id, one.service, False, one.currency), one.amount)
                for one in moved
            ],
            invoices=[
                _invoice(one) for one in await created_of_month(db, scope, month, vendor=vendor)
            ],
            accounts=await _accounts(db, scope, vendor),
        )
    )
    imports = {row.payer_id: row for row in await imports_of_month(db, scope, month, vendor)}
    return TieOut(
        month=month,
        ties=found.ties,
        payers=[
            TieOutPayer(
                vendor=vendor,
                payer_id=payer_id,
                currency=currency,
                import_id=imports[payer_id].import_id if payer_id in imports else None,
                provisional=payer_id in imports and imports[payer_id].provisional,
                **_amounts(statement),
            )
            for (payer_id, currency), statement in found.statements.items()
        ],
        differences=[_difference(vendor, one) for one in found.differences],
        accounts_in_no_group=[
            TieOutAccount(
                vendor=vendor,
                payer_id=payer_id,
                customer_id=customer_id,
                currency=currency,
                amount=_shown(amount),
            )
            for (payer_id, customer_id, currency), amount in found.in_no_group.items()
        ],
    )


def _amounts(one: tie_out.Statement) -> dict[str, Decimal]:
    amounts = {
        "total": one.total,
        "moved_fees": one.moved_fees,
        "invoiced": one.invoiced,
        "in_no_group": one.in_no_group,
        "entries_applied": one.entries_applied,
        "entries_unapplied": one.entries_unapplied,
        **{kind: one.by_kind[kind] for kind in ("tax", "discount", "unknown")},
        "difference": one.difference,
    }
    return {name: _shown(amount) for name, amount in amounts.items()}


def _difference(vendor: Vendor, one: tie_out.Difference) -> TieOutDifference:
    return TieOutDifference(
        vendor=vendor,
        payer_id=one.payer_id,
        reason=one.reason,
        company_id=one.company_id,
        invoice_no=one.invoice_no,
        customer_id=one.what.customer_id,
        service=one.what.service,
        marketplace=one.what.marketplace,
        currency=one.what.currency,
        invoiced=_shown(one.invoiced),
        counts=_shown(one.counts),
        difference=_shown(one.amount),
    )


def _shown(amount: Decimal) -> Decimal:
    """Without the zeros behind the last digit that counts."""
    return Decimal(plain(amount))


def _invoice(one: Created[InvoiceDocument]) -> tie_out.Invoice:
    document = one.document
    usage: defaultdict[tie_out.Service, list[Decimal]] = defaultdict(list)
    for charge in document.charges.usage:
        what = tie_out.Service(
            charge.customer_id,
            charge.service,
            charge.marketplace,
            _CODES[document.cost_currency],
        )
        usage[what].append(charge.amount)
    return tie_out.Invoice(
        company_id=one.company_id,
        invoice_no=one.invoice_no,
        payers=tuple(of.payer_id for of in document.imports),
        usage={what: total_of(amounts) for what, amounts in usage.items()},
    )


async def _charged(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str
) -> list[tie_out.Charged]:
    sums = cost_sums.c
    by = (
        sums.payer_id,
        sums.kind,
        sums.customer_id,
        sums.service,
        sums.marketplace,
        sums.currency,
    )
    question = (
        sa.select(*by, sa.func.sum(sums.cost).label("cost"))
        .where(
            sums.organisation_id == scope.organisation_id,
            sums.vendor == vendor,
            sums.month == month,
        )
        .group_by(*by)
    )
    return [
        tie_out.Charged(
            payer_id=row.payer_id,
            kind=row.kind,
            what=tie_out.Service(row.customer_id, row.service, row.marketplace, row.currency),
            amount=row.cost,
        )
        for row in await db.execute(question)
    ]


async def _entries(
    db: AsyncConnection, scope: TenantScope, month: str, vendor: str
) -> list[tie_out.Entry]:
    """Those the vendor's data has."""
    entries = recalculation_entries.c
    applied = entries.applied_month.is_not(None).label("applied")
    by = (entries.payer_id, entries.customer_id, entries.currency_code, applied)
    question = (
        sa.select(*by, sa.func.sum(entries.unblended_cost).label("cost"))
        .where(
            entries.organisation_id == scope.organisation_id,
            entries.vendor == vendor,
            entries.month == month,
            entries.delivered,
        )
        .group_by(*by)
    )
    return [
        tie_out.Entry(
            payer_id=row.payer_id,
            customer_id=row.customer_id,
            currency=row.currency_code,
            amount=row.cost,
            applied=row.applied,
        )
        for row in await db.execute(question)
    ]


async def _accounts(
    db: AsyncConnection, scope: TenantScope, vendor: str
) -> dict[str, tie_out.Account]:
    question = sa.select(
        cloud_accounts.c.customer_id, cloud_accounts.c.company_id, cloud_accounts.c.account_id
    ).where(
        cloud_accounts.c.organisation_id == scope.organisation_id,
        cloud_accounts.c.vendor == vendor,
    )
    return {
        row.customer_id: tie_out.Account(company_id=row.company_id, payer_id=row.account_id)
        for row in await db.execute(question)
    }
