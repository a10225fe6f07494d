"""The invoice list of a month and the totals of its created invoices."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import BillingGroupRecord, list_billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.list_query import COMPLETE, ListQuery
from nimbill.database.tenant_scope import Row, TenantScope, is_any_of, of_tenant
from nimbill.foundation import clock
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding, round_amount, sum_exact
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.foundation.vendors import BilledVendor
from nimbill.invoicing.documents.bodies import (
    AccountTotalList,
    AccountTotalRecord,
    AdjustmentEntry,
    BillingGroupTotal,
    InvoiceList,
    InvoiceListAccount,
    InvoiceListItem,
    InvoiceListRecord,
    InvoiceListTotals,
    VendorInvoiceData,
    VendorTotals,
)
from nimbill.invoicing.documents.document import (
    InvoiceAmounts,
    InvoiceSummary,
    convert_sales,
    convert_vendor_cost,
)
from nimbill.invoicing.documents.stored_invoices import (
    StoredInvoice,
    list_invoice_amounts,
    list_invoice_summaries,
    list_invoices,
)
from nimbill.invoicing.runs.invoice_selection import select_invoiced_groups
from nimbill.invoicing.runs.month_settings import load_saved_settings, read_setting_fields


async def load_invoice_list(
    db: AsyncConnection,
    scope: TenantScope,
    month: str,
    query: ListQuery = COMPLETE,
    *,
    invoiced: bool | None = None,
) -> tuple[InvoiceList, int]:
    """List every billing group that the caller may see, with or without invoices, and count them.

    The totals are those of all pages.
    """
    created = await list_invoice_amounts(db, scope, month)
    if query == COMPLETE and invoiced is None:
        groups = await list_billing_groups(db, scope)
        total = len(groups)
    else:
        found = await select_invoiced_groups(db, scope, query, created, invoiced=invoiced)
        created = [invoice for invoice in created if invoice.company_id in found]
        total = len(found)
        groups = await list_billing_groups(db, scope, company_ids=list(found)[query.page])
        groups.sort(key=lambda group: found[group.company_id])
    company_ids = [group.company_id for group in groups]
    saved = await load_saved_settings(db, scope, month, company_ids)
    accounts = await _load_accounts(db, scope, company_ids)
    vendors = await load_vendors(db, scope)
    summaries = await list_invoice_summaries(db, scope, month, company_ids)
    by_key = {(invoice.company_id, invoice.vendor): invoice for invoice in summaries}
    invoice_list = InvoiceList(
        total=calculate_list_totals(
            [invoice for invoice in created if not invoice.is_cancelled], vendors
        ),
        billinggroup=[
            _build_record(group, month, vendors, by_key, saved, accounts[group.company_id])
            for group in groups
        ],
    )
    return invoice_list, total


async def _load_accounts(
    db: AsyncConnection, scope: TenantScope, company_ids: Sequence[str]
) -> Mapping[str, list[InvoiceListAccount]]:
    stmt = (
        sa.select(cloud_accounts)
        .where(
            of_tenant(cloud_accounts, scope), is_any_of(cloud_accounts.c.company_id, company_ids)
        )
        .order_by(cloud_accounts.c.vendor, cloud_accounts.c.customer_id)
    )
    accounts = defaultdict(list)
    for row in await db.execute(stmt):
        accounts[row.company_id].append(
            InvoiceListAccount(
                account_id=row.account_id,
                customer_id=row.customer_id,
                customer_name=row.name,
                vendor=row.vendor,
                service_discount=None,
            )
        )
    return accounts


def _build_record(
    group: BillingGroupRecord,
    month: str,
    vendors: Sequence[str],
    created: Mapping[tuple[str, str], StoredInvoice[InvoiceSummary]],
    saved: Mapping[tuple[str, str], Row],
    accounts: list[InvoiceListAccount],
) -> InvoiceListRecord:
    invoices = {vendor: created.get((group.company_id, vendor)) for vendor in vendors}
    existing = [invoice for invoice in invoices.values() if invoice is not None]
    return InvoiceListRecord(
        company_id=group.company_id,
        name=group.name,
        billinggroup_id=group.billinggroup_id,
        billinggroup_name=group.billinggroup_name,
        project_id=group.project_id,
        project_code=group.project_code,
        project_label=group.project_label,
        project_currency=group.project_currency,
        month=month,
        invoice_no=existing[0].invoice_no if existing else None,
        created_data={
            vendor: None if invoice is None else _build_created_data(invoice.document)
            for vendor, invoice in invoices.items()
        },
        saved_data={
            vendor: _build_saved_data(saved.get((group.company_id, vendor)), group, vendor)
            for vendor in vendors
        },
        default_data={vendor: _build_default_data(group, vendor) for vendor in vendors},
        accounts=accounts,
        create_time=_format_time(min((invoice.create_time for invoice in existing), default=None)),
        update_time=_format_time(max((invoice.update_time for invoice in existing), default=None)),
        total={
            vendor: None if invoice is None else _read_owed_total(invoice)
            for vendor, invoice in invoices.items()
        },
        language=group.language,
    )


def _read_owed_total(invoice: StoredInvoice[InvoiceSummary]) -> Decimal:
    return Decimal(0) if invoice.is_cancelled else invoice.document.sheet.total


def _format_time(at: Any) -> str | None:
    return None if at is None else clock.format_timestamp(at)


def _build_created_data(document: InvoiceSummary) -> VendorInvoiceData:
    return VendorInvoiceData(
        **read_setting_fields(document.setting),
        invoice_no=document.invoice_no,
        exchange_rate=document.exchange_rate,
        memo=document.memo,
        additional_items=_build_items(document.charges.items),
    )


def _build_saved_data(
    row: Row | None, group: BillingGroupRecord, vendor: BilledVendor
) -> VendorInvoiceData | None:
    if row is None:
        return None
    return VendorInvoiceData(
        **read_setting_fields(row),
        invoice_no=None,
        exchange_rate=row.exchange_rate,
        memo=row.memo,
        additional_items=_build_items(group.additional_items.get(vendor, [])),
    )


def _build_default_data(
    group: BillingGroupRecord, vendor: BilledVendor
) -> VendorInvoiceData | None:
    setting = group.invoices.get(vendor)
    if setting is None:
        return None
    return VendorInvoiceData(
        **read_setting_fields(setting),
        invoice_no=None,
        exchange_rate=None,
        memo=None,
        additional_items=_build_items(group.additional_items.get(vendor, [])),
    )


def _build_items(items: Iterable[Any]) -> list[InvoiceListItem]:
    return [
        InvoiceListItem(**{name: getattr(item, name) for name in InvoiceListItem.__struct_fields__})
        for item in items
    ]


def calculate_list_totals(
    invoices: Sequence[InvoiceAmounts], vendors: Sequence[str] = BILLED_VENDORS
) -> InvoiceListTotals:
    """Sum up in the invoices' currency; in yen at each invoice's rate if there are several."""
    currencies = {invoice.currency for invoice in invoices}
    currency = currencies.pop() if len(currencies) == 1 else Currency.jpy
    totals = {
        vendor: _calculate_vendor_totals(
            [invoice for invoice in invoices if invoice.vendor == vendor], currency
        )
        for vendor in (*BILLED_VENDORS, *vendors)
    }
    return InvoiceListTotals(
        stock=totals["aws"].stock,
        sales=totals["aws"].sales,
        azure_stock=totals["azure"].stock,
        azure_sales=totals["azure"].sales,
        other_vendors={
            vendor: of_vendor
            for vendor, of_vendor in totals.items()
            if vendor not in BILLED_VENDORS
        },
    )


def _calculate_vendor_totals(
    invoices: Sequence[InvoiceAmounts], currency: Currency
) -> VendorTotals:
    vendor_cost = sum_exact(convert_vendor_cost(invoice, currency) for invoice in invoices)
    sales = sum_exact(convert_sales(invoice, currency) for invoice in invoices)
    return VendorTotals(
        stock=round_amount(vendor_cost, currency, Rounding.half_up),
        sales=round_amount(sales, currency, Rounding.half_up),
    )


async def load_account_totals(
    db: AsyncConnection, scope: TenantScope, month: str
) -> AccountTotalList:
    """Load the totals of created invoices that are not cancelled, by invoice number."""
    created = await list_invoices(db, scope, month, with_cancelled=False)
    documents = [invoice.document for invoice in created]
    return AccountTotalList(
        accounts=[
            AccountTotalRecord(
                customer_id=account.customer_id,
                customer_name=account.customer_name,
                total=account.total,
                total_exchanged=account.total_exchanged,
                adjustment_entries=[
                    AdjustmentEntry(
                        name=entry.description,
                        amount=entry.amount,
                        amount_exchanged=entry.amount_exchanged,
                    )
                    for entry in account.entries
                ],
            )
            for document in documents
            for account in document.sheet.accounts
        ],
        billing_groups=[
            BillingGroupTotal(
                billing_group_id=document.billinggroup_id,
                billing_group_name=document.billinggroup_name,
                vendor=document.vendor,
                tax_excluded_amount=document.sheet.pre_tax_usd,
                tax_excluded_amount_exchanged=document.sheet.pre_tax,
                tax=document.sheet.tax,
                total_amount_exchanged=document.sheet.total,
            )
            for document in documents
        ],
    )
