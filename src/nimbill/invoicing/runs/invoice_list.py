"""The month at a glance: every group beside what was made, saved and set for it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import BillingGroupRecord, list_billing_groups
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import Row, TenantScope, visible_rows
from nimbill.foundation import clock
from nimbill.foundation.basis import chosen
from nimbill.foundation.money import Exact, Rounding, exact, exchanged, rounded, sum_of
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.documents.bodies import (
    AccountOfList,
    AccountOfTotals,
    AccountTotals,
    AdjustmentEntry,
    DataOfVendor,
    GroupOfTotals,
    InvoiceList,
    InvoiceOfList,
    ItemOfList,
    ListTotals,
)
from nimbill.invoicing.documents.document import Glance, InvoiceDocument
from nimbill.invoicing.documents.stored_invoices import Created, created_of_month, glances_of_month
from nimbill.invoicing.runs.build_invoice import CURRENCIES
from nimbill.invoicing.runs.month_settings import saved_of, setting_fields

basis = chosen("invoice-list")


async def invoice_list(db: AsyncConnection, scope: TenantScope, month: str) -> InvoiceList:
    """Every group that the caller may see, with or without invoices."""
    groups = await list_billing_groups(db, scope)
    company_ids = [group.company_id for group in groups]
    saved = await saved_of(db, scope, month, company_ids)
    accounts = await _accounts(db, scope, company_ids)
    created = await glances_of_month(db, scope, month)
    by_group = {(one.company_id, one.vendor): one for one in created}
    return InvoiceList(
        total=list_totals([one.document for one in created]),
        billinggroup=[
            _record(group, month, by_group, saved, accounts[group.company_id]) for group in groups
        ],
    )


async def _accounts(
    db: AsyncConnection, scope: TenantScope, company_ids: Sequence[str]
) -> Mapping[str, list[AccountOfList]]:
    question = (
        sa.select(cloud_accounts)
        .where(
            cloud_accounts.c.organisation_id == scope.organisation_id,
            visible_rows(cloud_accounts.c.company_id, company_ids),
        )
        .order_by(cloud_accounts.c.vendor, cloud_accounts.c.customer_id)
    )
    found = defaultdict(list)
    for row in await db.execute(question):
        found[row.company_id].append(
            AccountOfList(
                account_id=row.account_id,
                customer_id=row.customer_id,
                customer_name=row.name,
                vendor=row.vendor,
                service_discount=None,
            )
        )
    return found


def _record(
    group: BillingGroupRecord,
    month: str,
    created: Mapping[tuple[str, str], Created[Glance]],
    saved: Mapping[tuple[str, str], Row],
    accounts: list[AccountOfList],
) -> InvoiceOfList:
    made = {vendor: created.get((group.company_id, vendor)) for vendor in BILLED_VENDORS}
    newest = [one for one in made.values() if one is not None]
    return InvoiceOfList(
        company_id=group.company_id,
        name=group.name,
        billinggroup_id=group.billinggroup_id,
        billinggroup_name=group.billinggroup_name,
        project_id=group.project_id,
        project_code=group.project_code,
        project_label=group.project_label,
        project_currency=group.project_currency,
        month=month,
        invoice_no=newest[0].invoice_no if newest else None,
        created_data={
            vendor: None if one is None else _created_data(one.document)
            for vendor, one in made.items()
        },
        saved_data={
            vendor: _saved_data(saved.get((group.company_id, vendor)), group, vendor)
            for vendor in BILLED_VENDORS
        },
        default_data={vendor: _default_data(group, vendor) for vendor in BILLED_VENDORS},
        accounts=accounts,
        create_time=_moment(min((one.create_time for one in newest), default=None)),
        update_time=_moment(max((one.update_time for one in newest), default=None)),
        total={
            vendor: None if one is None else one.document.sheet.total
            for vendor, one in made.items()
        },
        language=group.language,
    )


def _moment(at: Any) -> str | None:
    return None if at is None else clock.written(at)


def _created_data(document: Glance) -> DataOfVendor:
    return DataOfVendor(
        **setting_fields(document.setting),
        invoice_no=document.invoice_no,
        exchange_rate=document.exchange_rate,
        memo=document.memo,
        additional_items=_items(document.charges.items),
    )


def _saved_data(
    row: Row | None, group: BillingGroupRecord, vendor: BilledVendor
) -> DataOfVendor | None:
    if row is None:
        return None
    return DataOfVendor(
        **setting_fields(row),
        invoice_no=None,
        exchange_rate=row.exchange_rate,
        memo=row.memo,
        additional_items=_items(group.additional_items.get(vendor, [])),
    )


def _default_data(group: BillingGroupRecord, vendor: BilledVendor) -> DataOfVendor | None:
    setting = group.invoices.get(vendor)
    if setting is None:
        return None
    return DataOfVendor(
        **setting_fields(setting),
        invoice_no=None,
        exchange_rate=None,
        memo=None,
        additional_items=_items(group.additional_items.get(vendor, [])),
    )


def _items(items: Iterable[Any]) -> list[ItemOfList]:
    return [
        ItemOfList(**{name: getattr(item, name) for name in ItemOfList.__struct_fields__})
        for item in items
    ]


def list_totals(documents: Sequence[Glance]) -> ListTotals:
    """In the invoices' currency; where they have several, in yen at each one's rate."""
    used = {document.currency for document in documents}
    currency = used.pop() if len(used) == 1 else Currency.jpy
    found = {}
    for vendor, name in (("aws", ""), ("azure", "azure_")):
        own = [document for document in documents if document.vendor == vendor]
        stock = sum_of(stock_in(document, currency) for document in own)
        sales = sum_of(sales_in(document, currency) for document in own)
        found[f"{name}stock"] = rounded(stock, currency, Rounding.half_up)
        found[f"{name}sales"] = rounded(sales, currency, Rounding.half_up)
    return ListTotals(**found)


def sales_in(document: InvoiceDocument | Glance, currency: Currency) -> Exact:
    """What was invoiced before tax, at the invoice's rate; exact."""
    rate = exact(document.exchange_rate)
    return exchanged(exact(document.sheet.pre_tax), document.currency, currency, rate)


def stock_in(document: InvoiceDocument | Glance, currency: Currency) -> Exact:
    """What the vendor charged without tax, at the invoice's rate; exact."""
    rate = exact(document.exchange_rate)
    return sum_of(
        exchanged(exact(one.amount), CURRENCIES[one.currency], currency, rate)
        for one in document.stock
        if one.currency in CURRENCIES
    )


async def account_totals(db: AsyncConnection, scope: TenantScope, month: str) -> AccountTotals:
    """The rows of created invoices, by their numbers."""
    documents = [one.document for one in await created_of_month(db, scope, month)]
    return AccountTotals(
        accounts=[
            AccountOfTotals(
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
            GroupOfTotals(
                billing_group_id=document.billinggroup_id,
                billing_group_name=document.billinggroup_name,
                vendor=cast(BilledVendor, document.vendor),
                tax_excluded_amount=document.sheet.pre_tax_usd,
                tax_excluded_amount_exchanged=document.sheet.pre_tax,
                tax=document.sheet.tax,
                total_amount_exchanged=document.sheet.total,
            )
            for document in documents
        ],
    )
