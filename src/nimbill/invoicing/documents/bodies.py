"""Bodies of the invoice operations, row by row as specified."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar

import msgspec

from nimbill.customers.billing_groups import invoice_setting_rules
from nimbill.customers.billing_groups.fee_targets import find_target_conflicts
from nimbill.customers.billing_groups.records import InvoiceSetting
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.language import Language
from nimbill.foundation.vendors import BilledVendor, Vendor
from nimbill.http.request_bodies import Body, Success, described, text_length
from nimbill.invoicing.documents.document import InvoiceDocument, InvoiceWarningCode

MEMO_MAX = 1_000
RATE_MAX = Decimal(1_000_000)
AT_LEAST_ONE_GROUP = "at least one billing group"


class MonthlyInvoiceSetting(InvoiceSetting, frozen=True, kw_only=True):
    """The setting of a month; values of the create and the update column are allowed."""

    basis: ClassVar[Basis] = chosen("invoice-paths")

    memo: Annotated[str, text_length(0, MEMO_MAX)] | None = None


class SaveSettingsRequest(Body, frozen=True, kw_only=True):
    """`settings` is keyed by company_id and vendor; empty if `internal` is true."""

    basis: ClassVar[Basis] = stated("Invoices")

    settings: dict[str, dict[BilledVendor, MonthlyInvoiceSetting]] | list[Any]
    internal: bool

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        settings = sent.get("settings")
        if isinstance(settings, list) and settings:
            yield Violation("settings", "an object keyed by company_id")

    @classmethod
    def vendor_violations(
        cls, sent: Mapping[str, Any], vendors: Sequence[str]
    ) -> Iterator[Violation]:
        settings = sent.get("settings")
        if isinstance(settings, dict) and sent.get("internal") is not True:
            for group_settings in settings.values():
                yield from _check_group_settings(group_settings, vendors)


def _check_group_settings(group_settings: Any, vendors: Sequence[str]) -> Iterator[Violation]:
    for vendor in vendors:
        setting = group_settings.get(vendor) if isinstance(group_settings, dict) else None
        if isinstance(setting, dict):
            path = f"settings.{vendor}"
            violations = list(
                invoice_setting_rules.find_violations(setting, vendor, ["create", "update"], path)
            )
            yield from violations or find_target_conflicts(setting, path)


class SaveExchangeRateRequest(Body, frozen=True, kw_only=True):
    """`billing_groups`: an object keyed by company_id, or an array of ids."""

    basis: ClassVar[Basis] = stated("Invoices")

    vendor: BilledVendor
    billing_groups: dict[str, Any] | list[str]
    exchange_rate: Decimal

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("billing_groups") in ([], {}):
            yield Violation("billing_groups", AT_LEAST_ONE_GROUP)
        rate = sent.get("exchange_rate")
        if isinstance(rate, int | Decimal) and not 0 < rate <= RATE_MAX:
            yield Violation("exchange_rate", f"more than 0, up to {RATE_MAX:,}")


class SavedExchangeRate(Body, frozen=True, kw_only=True):
    """The rate of a billing group for a month and vendor."""

    basis: ClassVar[Basis] = chosen("saved-exchange-rates")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    vendor: BilledVendor
    exchange_rate: Annotated[Decimal, described("yen per dollar")]
    saved_by: Annotated[str | None, described("the name of the user who saved it last")]
    saved_time: str | None


class SavedMonth(Body, frozen=True, kw_only=True):
    """An open month for which terms of a billing group are saved."""

    basis: ClassVar[Basis] = chosen("terms-of-open-months")

    month: str
    invoiced: Annotated[bool, described("whether the group has an invoice of the vendor")]
    terms_differ: Annotated[bool, described("from the group's current default terms")]


class CreateInvoicesRequest(Body, frozen=True, kw_only=True):
    """`group`: an object keyed by company_id, or an array of ids; ignored if `bulk` is true."""

    basis: ClassVar[Basis] = stated("Invoices")

    vendor: Vendor
    group: dict[str, Any] | list[str]
    bulk: bool

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("bulk") is False and sent.get("group") in ([], {}):
            yield Violation("group", AT_LEAST_ONE_GROUP)


class CreatedInvoice(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-paths")

    company_id: str
    vendor: Vendor
    invoice_no: str


class SkippedGroup(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-paths")

    company_id: str
    reason: str


class InvoiceWarning(Body, frozen=True, kw_only=True):
    """Something that a created invoice lacks, and what to do about it."""

    basis: ClassVar[Basis] = chosen("invoice-warnings")

    company_id: str
    invoice_no: str
    code: InvoiceWarningCode
    detail: str


WARNING_DETAILS: Mapping[InvoiceWarningCode, str] = {
    InvoiceWarningCode.issuer_missing: (
        "The invoice names no issuer. Link an invoice template to the billing group or to the "
        "organisation settings, then create the invoice again."
    ),
    InvoiceWarningCode.registration_number_missing: (
        "The invoice names no registration number of its issuer. Add it to the invoice template, "
        "then create the invoice again."
    ),
}


class CreateInvoicesResponse(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-paths")

    created: list[CreatedInvoice]
    skipped: list[SkippedGroup]
    warnings: list[InvoiceWarning]


class InvoiceRun(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-runs")

    run_id: str
    month: str
    vendor: Vendor
    state: str
    groups: int
    done: int
    skipped: int
    create_time: str


class AdjustmentEntry(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Account total list")

    name: str
    amount: Decimal
    amount_exchanged: Decimal


class AccountTotalRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Account total list")

    customer_id: str
    customer_name: str
    total: Decimal
    total_exchanged: Decimal
    adjustment_entries: list[AdjustmentEntry]


class BillingGroupTotal(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Account total list")

    billing_group_id: str
    billing_group_name: str
    vendor: BilledVendor
    tax_excluded_amount: Decimal
    tax_excluded_amount_exchanged: Decimal
    tax: Decimal
    total_amount_exchanged: Decimal


class AccountTotalList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Account total list")

    accounts: list[AccountTotalRecord]
    billing_groups: list[BillingGroupTotal]


class InvoiceListItem(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-list")

    enabled: bool
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class VendorInvoiceData(InvoiceSetting, frozen=True, kw_only=True):
    """The setting with its invoice data; it can be saved back unchanged."""

    basis: ClassVar[Basis] = chosen("invoice-list")

    invoice_no: str | None
    exchange_rate: Decimal | None
    memo: str | None
    additional_items: list[InvoiceListItem]


class InvoiceListAccount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-list")

    account_id: str
    customer_id: str
    customer_name: str
    vendor: BilledVendor
    service_discount: None


class InvoiceListRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-list")

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
    created_data: dict[BilledVendor, VendorInvoiceData | None]
    saved_data: dict[BilledVendor, VendorInvoiceData | None]
    default_data: dict[BilledVendor, VendorInvoiceData | None]
    accounts: list[InvoiceListAccount]
    create_time: str | None
    update_time: str | None
    total: dict[BilledVendor, Decimal | None]
    language: Language | None


class VendorTotals(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("vendors")

    stock: Decimal
    sales: Decimal


class InvoiceListTotals(Body, frozen=True, kw_only=True, omit_defaults=True):
    """`other_vendors` is left out if the organisation bills no others."""

    basis: ClassVar[Basis] = chosen("invoice-list")

    stock: Decimal
    sales: Decimal
    azure_stock: Decimal
    azure_sales: Decimal
    other_vendors: dict[BilledVendor, VendorTotals] = msgspec.field(default_factory=dict)


class InvoiceList(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("invoice-list")

    total: InvoiceListTotals
    billinggroup: list[InvoiceListRecord]


class InvoiceRevision(Body, frozen=True, kw_only=True):
    """An earlier revision of an invoice."""

    basis: ClassVar[Basis] = chosen("invoice-document")

    revision: int
    create_time: str
    invoice: InvoiceDocument
