"""A stored invoice with every input, every line and the explanation of each amount."""

from decimal import Decimal
from typing import Any

import msgspec

from nimbill_client.billing_groups import InvoiceSetting
from nimbill_client.record import BilledVendor, Record


class Explanation(Record, frozen=True, kw_only=True):
    rule: str
    base: Decimal | None = None
    base_currency: str | None = None
    working: str = ""
    sources: list[str] = msgspec.field(default_factory=list)


class Fee(Record, frozen=True, kw_only=True):
    charge: Decimal
    after: Decimal
    why: Explanation


class UsageLine(Record, frozen=True, kw_only=True):
    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    charge: Decimal
    after: Decimal
    cost: Decimal
    why: Explanation
    products: list[str] = msgspec.field(default_factory=list)


class EntryLine(Record, frozen=True, kw_only=True):
    entry_id: str
    customer_id: str
    customer_name: str
    calc_type: str
    description: str
    original: Decimal
    original_currency: str
    exchange_rate: Decimal | None
    amount: Decimal
    tax_free: bool
    why: Explanation


class ItemLine(Record, frozen=True, kw_only=True):
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal
    why: Explanation


class AccountTotal(Record, frozen=True, kw_only=True):
    customer_id: str
    customer_name: str
    total: Decimal
    total_exchanged: Decimal
    entries: list[Any]


class InvoiceSheet(Record, frozen=True, kw_only=True):
    currency: str
    cost_currency: str
    lines: list[UsageLine]
    support: Fee | None
    agency: Fee | None
    entries: list[EntryLine]
    items: list[ItemLine]
    usage_charge: Decimal
    usage_after: Decimal
    tax_free: Decimal
    pre_tax: Decimal
    taxable: Decimal
    tax_rate: Decimal
    tax: Decimal
    total: Decimal
    pre_tax_usd: Decimal
    accounts: list[AccountTotal]
    pre_tax_why: Explanation | None = None
    tax_why: Explanation | None = None
    total_why: Explanation | None = None


class TermsDifference(Record, frozen=True, kw_only=True):
    usage_charge: Decimal
    usage_after: Decimal
    support: Decimal
    agency: Decimal
    pre_tax: Decimal
    tax: Decimal
    total: Decimal


class TermsPreview(Record, frozen=True, kw_only=True):
    company_id: str
    month: str
    vendor: BilledVendor
    exchange_rate: Decimal
    current: InvoiceSheet
    preview: InvoiceSheet
    vendor_cost: Decimal
    margin: Decimal
    current_margin: Decimal
    difference: TermsDifference | None


class Addressee(Record, frozen=True, kw_only=True):
    company_name: str
    contact: str | None
    postal: str | None
    address: str | None
    phone: str | None


class Issuer(Record, frozen=True, kw_only=True):
    invoice_template_id: str
    company: str
    postal: str | None = None
    address: str | None = None
    phone: str | None = None
    contact: str | None = None
    registration_number: str | None = None
    bank_account: str | None = None
    notes: str | None = None
    accent_colour: str | None = None


class InvoiceProject(Record, frozen=True, kw_only=True):
    project_id: str
    project_code: str
    project_label: str
    project_currency: str


class PayerImport(Record, frozen=True, kw_only=True):
    payer_id: str
    import_id: str
    provisional: bool


class VendorCharge(Record, frozen=True, kw_only=True):
    currency: str
    amount: Decimal


class Terms(Record, frozen=True, kw_only=True):
    calc_type: str
    currency: str
    discount_calc_logic: str
    discount_rate: Decimal
    discount_target_usage: str
    substitution_fee: str
    substitution_basis: str
    substitution_scope: str
    substitution_fee_calc_type: str
    substitution_fix: Decimal
    substitution_rate: Decimal
    support_amount_target: str
    support_fee: str
    support_basis: str
    support_scope: str | None
    support_fix: Decimal
    support_rate: Decimal
    tax_rate: Decimal
    exchange_rate: Decimal
    rounding: str
    usage_table: list[list[Any]]
    month: str


class UsageCharge(Record, frozen=True, kw_only=True):
    customer_id: str
    customer_name: str
    tag: str
    service: str
    marketplace: bool
    amount: Decimal
    products: list[str] = msgspec.field(default_factory=list)


class AppliedEntry(Record, frozen=True, kw_only=True):
    entry_id: str
    customer_id: str
    customer_name: str
    calc_type: str
    description: str
    amount: Decimal
    currency: str
    exchange_rate: Decimal
    tax_free: bool


class FreeItem(Record, frozen=True, kw_only=True):
    enabled: bool
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class MonthlyCharges(Record, frozen=True, kw_only=True):
    cost_currency: str
    usage: list[UsageCharge]
    entries: list[AppliedEntry] = msgspec.field(default_factory=list)
    items: list[FreeItem] = msgspec.field(default_factory=list)


class LateCost(Record, frozen=True, kw_only=True):
    payer_id: str
    customer_id: str
    service: str
    marketplace: bool
    currency: str
    amount: Decimal
    description: str
    one_off: bool


class InvoiceDocument(Record, frozen=True, kw_only=True):
    form: int = False
    invoice_no: str
    revision: int
    month: str
    vendor: str
    issue_date: str
    due_date: str | None
    language: str
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    inv_aggregate: bool
    addressee: Addressee
    title: str | None
    remarks: str | None
    memo: str | None
    issuer: Issuer | None
    project: InvoiceProject | None
    currency: str
    cost_currency: str
    exchange_rate: Decimal
    setting: InvoiceSetting
    tag_key: str | None
    imports: list[PayerImport]
    stock: list[VendorCharge]
    terms: Terms
    charges: MonthlyCharges
    sheet: InvoiceSheet
    vendor_label: str | None = None
    replaces: str | None = None
    late_costs: list[LateCost] = msgspec.field(default_factory=list)


class InvoiceRevision(Record, frozen=True, kw_only=True):
    revision: int
    create_time: str
    invoice: InvoiceDocument
