"""Request and response bodies of the billing group routes, as specified."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, UnsetType

from nimbill.customers.billing_groups import invoice_setting_rules
from nimbill.customers.billing_groups.fee_targets import find_support_conflicts
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.language import Language, LanguageChange
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import (
    NOT_EMPTY,
    Body,
    Success,
    clearable_text,
    described,
    text_length,
)

# See docs/choices.md, printing-limits.

ITEMS_MAX = 2_000  # free format items of one vendor
PRINTED_TEXT_MAX = 10_000
PRINTED_TEXTS = (
    "billinggroup_id",
    "billinggroup_name",
    "company_name",
    "phone",
    "postal",
    "address",
    "billing_title",
    "personal",
    "remarks",
)


class InvoiceSetting(Body, frozen=True, kw_only=True):
    """All fields are required. The allowed values are in invoice_setting_rules.py."""

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


class SupportFeeTarget(Body, frozen=True, kw_only=True):
    """What the support fee is calculated on; `support_fee_calc_target` can name one part alone."""

    basis: ClassVar[Basis] = chosen("support-fee-target")

    usage: Annotated[
        Literal["nondiscount", "discounted"], described("usage before or after the discount")
    ]
    scope: Annotated[
        Literal["cloudpayonly", "cloudpaywithfee"] | None,
        described("without or with applied fees; null leaves it to `support_amount_target`"),
    ]


class BillingGroupCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Billing group create body")

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
    def vendor_violations(
        cls, sent: Mapping[str, Any], vendors: Sequence[str]
    ) -> Iterator[Violation]:
        return invoice_setting_rules.find_violations_by_vendor(
            sent.get("invoices"), column="create", vendors=vendors
        )

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return _find_overlong_texts(sent, PRINTED_TEXTS)


def _find_overlong_texts(sent: Mapping[str, Any], names: Sequence[str]) -> Iterator[Violation]:
    for name in names:
        text = sent.get(name)
        if isinstance(text, str) and len(text) > PRINTED_TEXT_MAX:
            yield Violation(name, f"length up to {PRINTED_TEXT_MAX}")


class BillingGroupUpdate(Body, frozen=True, kw_only=True):
    """An absent or null field is not changed; "" clears an optional text."""

    basis: ClassVar[Basis] = stated("Billing group update body")

    billinggroup_id: Annotated[str, NOT_EMPTY]
    billinggroup_name: Annotated[str, text_length(1, 100)]
    company_name: Annotated[str, text_length(1, 100)]
    phone: Annotated[str, clearable_text(12, 16)] | None = None
    postal: Annotated[str, clearable_text(4, 10)] | None = None
    address: Annotated[str, clearable_text(1, 100)] | None = None
    billing_title: Annotated[str, clearable_text(1, 100)] | None = None
    personal: Annotated[str, clearable_text(1, 100)] | None = None
    remarks: Annotated[str, clearable_text(1, 100)] | None = None
    inv_aggregate: bool | None = None
    project_id: str | None = None
    language: LanguageChange | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        yield from _find_overlong_texts(sent, ["billinggroup_id"])


class InvoiceSettingUpdate(Body, frozen=True, kw_only=True):
    """The operation checks the values: which are allowed depends on an organisation setting."""

    basis: ClassVar[Basis] = chosen("billing-group-paths")

    vendor: BilledVendor
    invoices: InvoiceSetting
    support_fee_target: SupportFeeTarget | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_support_conflicts(sent.get("invoices"), sent.get("support_fee_target"))


class FreeFormatItem(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Free format item")

    enabled: bool
    label: Annotated[str, text_length(1, 60)]
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class FreeFormatUpdate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("billing-group-paths")

    additional_items: list[FreeFormatItem]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        items = sent.get("additional_items")
        if isinstance(items, list) and len(items) > ITEMS_MAX:
            yield Violation("additional_items", f"at most {ITEMS_MAX} items")


class InvoiceTemplateLink(Body, frozen=True, kw_only=True):
    """The field is required; null unlinks the template."""

    basis: ClassVar[Basis] = chosen("billing-group-paths")

    invoice_template_id: str | None


class BillingGroupCreated(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("billing-group-responses")

    company_id: str
    billinggroup_id: str


class CreatedBillingGroup(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("csv-imports")

    company_id: str
    billinggroup_id: str


class BillingGroupsCreated(Success, frozen=True, kw_only=True):
    """The groups in the order of the file."""

    basis: ClassVar[Basis] = chosen("csv-imports")

    created: list[CreatedBillingGroup]


class BillingGroupAccount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("billing-group-record")

    customer_id: str
    customer_name: str
    vendor: BilledVendor


class BillingGroupRecord(Body, frozen=True, kw_only=True):
    """A billing group as shown in the list and in the details."""

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
    support_fee_targets: dict[BilledVendor, SupportFeeTarget]
    additional_items: dict[BilledVendor, list[FreeFormatItem]]
    project_id: str | None
    project_code: str | None
    project_label: str | None
    project_currency: str | None
    invoice_template_id: str | None
    custom_fields: dict[str, Any]
    account: list[BillingGroupAccount]
    tag: list[Any]
    etag: str | UnsetType = UNSET  # with the parameter `etags`
