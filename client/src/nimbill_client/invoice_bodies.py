"""Requests and responses of a month's invoices."""

from decimal import Decimal

import msgspec

from nimbill_client.billing_groups import InvoiceSetting
from nimbill_client.record import BilledVendor, Record, Vendor


class MonthlyInvoiceSetting(InvoiceSetting, frozen=True, kw_only=True):
    """Terms of one month."""

    memo: str | None = None


class CreatedInvoice(Record, frozen=True, kw_only=True):
    company_id: str
    vendor: Vendor
    invoice_no: str


class SkippedGroup(Record, frozen=True, kw_only=True):
    company_id: str
    reason: str


class InvoiceWarning(Record, frozen=True, kw_only=True):
    company_id: str
    invoice_no: str
    code: str
    detail: str


class CreateInvoicesResponse(Record, frozen=True, kw_only=True):
    created: list[CreatedInvoice]
    skipped: list[SkippedGroup]
    warnings: list[InvoiceWarning]


class SavedMonth(Record, frozen=True, kw_only=True):
    """An open month for which terms of a billing group are saved."""

    month: str
    invoiced: bool
    terms_differ: bool


class InvoiceRun(Record, frozen=True, kw_only=True):
    run_id: str
    month: str
    vendor: Vendor
    state: str
    groups: int
    done: int
    skipped: int
    create_time: str


class ReplacedInvoice(Record, frozen=True, kw_only=True):
    invoice_no: str
    revision: int
    state: str
    sent_time: str
    sent_by: str
    replacement_no: str
    replaced_time: str
    replaced_by: str
    reason: str
    import_id: str | None


class MarkedInvoice(Record, frozen=True, kw_only=True):
    company_id: str
    invoice_no: str
    revision: int


class MarkedInvoices(Record, frozen=True, kw_only=True):
    """Those in `already_sent` keep their first time and user."""

    marked: list[MarkedInvoice]
    already_sent: list[MarkedInvoice]


class InvoiceStatus(Record, frozen=True, kw_only=True):
    invoice_no: str
    revision: int
    state: str
    sent_time: str | None
    sent_by: str | None
    publish_time: str | None
    cancelled_time: str | None
    cancelled_by: str | None
    cancel_reason: str | None
    credited: Decimal
    credit_notes: list[str]
    replaces: str | None
    replaced: list[ReplacedInvoice]


class ComparedAmount(Record, frozen=True, kw_only=True):
    kind: str
    label: str
    customer_id: str | None
    customer_name: str | None
    tag: str | None
    service: str | None
    amount: Decimal | None
    amount_before: Decimal | None
    change: Decimal
    cost: Decimal | None
    cost_before: Decimal | None
    line: str | None
    line_before: str | None


class ComparedTax(Record, frozen=True, kw_only=True):
    tax_rate: Decimal | None
    pre_tax: Decimal | None
    pre_tax_before: Decimal | None
    tax: Decimal | None
    tax_before: Decimal | None


class RevisionComparison(Record, frozen=True, kw_only=True):
    invoice_no: str
    revision: int
    revision_before: int | None
    currency: str
    added: list[ComparedAmount]
    removed: list[ComparedAmount]
    changed: list[ComparedAmount]
    taxes: list[ComparedTax]
    pre_tax: Decimal
    pre_tax_before: Decimal | None
    tax: Decimal
    tax_before: Decimal | None
    total: Decimal
    total_before: Decimal | None


class AdjustmentEntry(Record, frozen=True, kw_only=True):
    name: str
    amount: Decimal
    amount_exchanged: Decimal


class AccountTotalRecord(Record, frozen=True, kw_only=True):
    customer_id: str
    customer_name: str
    total: Decimal
    total_exchanged: Decimal
    adjustment_entries: list[AdjustmentEntry]


class BillingGroupTotal(Record, frozen=True, kw_only=True):
    billing_group_id: str
    billing_group_name: str
    vendor: BilledVendor
    tax_excluded_amount: Decimal
    tax_excluded_amount_exchanged: Decimal
    tax: Decimal
    total_amount_exchanged: Decimal


class AccountTotalList(Record, frozen=True, kw_only=True):
    accounts: list[AccountTotalRecord]
    billing_groups: list[BillingGroupTotal]


class InvoiceListItem(Record, frozen=True, kw_only=True):
    enabled: bool
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class VendorInvoiceData(InvoiceSetting, frozen=True, kw_only=True):
    """Terms of one month with the data of its invoice."""

    invoice_no: str | None
    exchange_rate: Decimal | None
    memo: str | None
    additional_items: list[InvoiceListItem]


class InvoiceListAccount(Record, frozen=True, kw_only=True):
    account_id: str
    customer_id: str
    customer_name: str
    vendor: BilledVendor
    service_discount: str | None  # always null


class InvoiceListRecord(Record, frozen=True, kw_only=True):
    company_id: str
    name: str
    billinggroup_id: str
    billinggroup_name: str
    project_id: str | None
    project_code: str | None
    project_label: str | None
    project_currency: str | None
    month: str
    invoice_no: str | None
    created_data: dict[str, VendorInvoiceData | None]
    saved_data: dict[str, VendorInvoiceData | None]
    default_data: dict[str, VendorInvoiceData | None]
    accounts: list[InvoiceListAccount]
    create_time: str | None
    update_time: str | None
    total: dict[str, Decimal | None]
    language: str | None


class VendorTotals(Record, frozen=True, kw_only=True):
    stock: Decimal
    sales: Decimal


class InvoiceListTotals(Record, frozen=True, kw_only=True):
    """`other_vendors` is empty if the organisation bills only AWS and Azure."""

    stock: Decimal
    sales: Decimal
    azure_stock: Decimal
    azure_sales: Decimal
    other_vendors: dict[BilledVendor, VendorTotals] = msgspec.field(default_factory=dict)


class InvoiceList(Record, frozen=True, kw_only=True):
    total: InvoiceListTotals
    billinggroup: list[InvoiceListRecord]


class ExportUrl(Record, frozen=True, kw_only=True):
    url: str
