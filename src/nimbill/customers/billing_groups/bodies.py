"""Bodies of the billing group operations, row by row as specified."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from nimbill.customers.billing_groups import invoice_setting_rules
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.foundation.vocabulary import Language
from nimbill.http.request_bodies import NOT_EMPTY, Body, Success, clearable, text


class InvoiceSetting(Body, frozen=True, kw_only=True):
    """All fields are required. Allowed values: see invoice_setting_rules.py."""

    basis: ClassVar[Basis] = stated("Invoice setting")

    calc_type: str
    currency: str
    discount_calc_logic: str
    discount_rate: Decimal
    discount_target_usage: str
    substitution_fee: str
    substitution_fee_calc_target: str
    substitution_fee_calc_type: str
    substitution_fee_target_usage: str
    substitution_fix: Decimal
    substitution_rate: Decimal
    support_amount_target: str
    support_fee: str
    support_fee_calc_target: str
    support_fix: Decimal
    support_rate: Decimal
    tax_rate: Decimal


class BillingGroupCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Billing group (create body)")

    billinggroup_id: Annotated[str, NOT_EMPTY]
    billinggroup_name: Annotated[str, NOT_EMPTY]
    company_name: Annotated[str, NOT_EMPTY]
    phone: str | None = None
    postal: str | None = None
    address: str | None = None
    billing_title: str | None = None
    personal: str | None = None
    remarks: str | None = None
    inv_aggregate: bool
    project_id: str | None = None
    invoice_template_id: str | None = None
    invoices: dict[BilledVendor, InvoiceSetting] | None = None
    language: Language | None = None

    @classmethod
    def broken_rules(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return invoice_setting_rules.broken_in(sent.get("invoices"), on="create")


class BillingGroupUpdate(Body, frozen=True, kw_only=True):
    """Absent or null leaves a field as it is, "" clears an optional text."""

    basis: ClassVar[Basis] = stated("Billing group update body")

    billinggroup_id: Annotated[str, NOT_EMPTY]
    billinggroup_name: Annotated[str, text(1, 100)]
    company_name: Annotated[str, text(1, 100)]
    phone: Annotated[str, clearable(12, 16)] | None = None
    postal: Annotated[str, clearable(4, 10)] | None = None
    address: Annotated[str, clearable(1, 100)] | None = None
    billing_title: Annotated[str, clearable(1, 100)] | None = None
    personal: Annotated[str, clearable(1, 100)] | None = None
    remarks: Annotated[str, clearable(1, 100)] | None = None
    inv_aggregate: bool | None = None
    project_id: str | None = None
    language: Language | None = None


class InvoiceSettingUpdate(Body, frozen=True, kw_only=True):
    """Which values are allowed depends on a setting of the organisation; see the operation."""

    basis: ClassVar[Basis] = chosen("billing-group-paths")

    vendor: BilledVendor
    invoices: InvoiceSetting


class FreeFormatItem(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Free format item (element `additional_items`)")

    enabled: bool
    label: Annotated[str, text(1, 60)]
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class FreeFormatUpdate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("billing-group-paths")

    additional_items: list[FreeFormatItem]


class InvoiceTemplateLink(Body, frozen=True, kw_only=True):
    """null unlinks, and must be said."""

    basis: ClassVar[Basis] = chosen("billing-group-paths")

    invoice_template_id: str | None


class BillingGroupCreated(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("billing-group-answers")

    company_id: str
    billinggroup_id: str


class AccountOfGroup(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("billing-group-record")

    customer_id: str
    customer_name: str
    vendor: BilledVendor


class BillingGroupRecord(Body, frozen=True, kw_only=True):
    """A stored group as lists and details show it."""

    basis: ClassVar[Basis] = chosen("billing-group-record")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    name: str
    contact: str | None
    title: str | None
    address: str | None
    postal: str | None
    phone: str | None
    remarks: str | None
    inv_aggregate: bool
    language: Language | None
    invoices: dict[BilledVendor, InvoiceSetting]
    additional_items: dict[BilledVendor, list[FreeFormatItem]]
    project_id: str | None
    project_code: str | None
    project_label: str | None
    project_currency: str | None
    invoice_template_id: str | None
    custom_fields: dict[str, Any]
    account: list[AccountOfGroup]
    tag: list[Any]
