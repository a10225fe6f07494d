"""Request and response bodies of the FastAPI application as pydantic models."""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]
Rate = Annotated[Decimal, Field(ge=0, le=1)]
Fixed = Annotated[Decimal, Field(ge=0, le=1_000_000)]
Usage = Literal["cloudpaywithfee", "cloudpayonly"]
Stage = Literal["nondiscount", "discounted"]
Vendor = Literal["aws", "azure"]


class InvoiceSettingIn(BaseModel):
    calc_type: Literal["account", "tag"]
    currency: Literal["jpy", "usd"]
    discount_calc_logic: Literal["usageamount"]
    discount_rate: Rate
    discount_target_usage: Usage
    substitution_fee: Literal["percent", "fix", "automatic", "usagetable"]
    substitution_fee_calc_target: Stage
    substitution_fee_calc_type: Literal["allsum", "account"]
    substitution_fee_target_usage: Usage
    substitution_fix: Fixed
    substitution_rate: Rate
    support_amount_target: Literal["allusage"]
    support_fee: Literal["fix", "percent", "aws_developer", "aws_business", "aws_enterprise"]
    support_fee_calc_target: Stage
    support_fix: Fixed
    support_rate: Rate
    tax_rate: Annotated[Decimal, Field(ge=0, le=Decimal("0.10"))]


class BillingGroupIn(BaseModel):
    billinggroup_id: Text
    billinggroup_name: Text
    company_name: Text
    phone: str | None = None
    postal: str | None = None
    address: str | None = None
    billing_title: str | None = None
    personal: str | None = None
    remarks: str | None = None
    inv_aggregate: bool
    project_id: str | None = None
    invoice_template_id: str | None = None
    invoices: dict[Vendor, InvoiceSettingIn] | None = None
    language: Literal["ja", "en"] | None = None


class BillingGroupCreatedOut(BaseModel):
    status: str = "success"
    company_id: str
    billinggroup_id: str


class InvoiceSettingOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

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


class SupportFeeTargetOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    usage: str = Field(validation_alias="support_basis")
    scope: str | None = Field(validation_alias="support_scope")


class FreeFormatItemOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    enabled: bool
    label: str
    unit_cost: Decimal
    quantity: Decimal
    total: Decimal


class AccountOfGroupOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    customer_id: str
    customer_name: str = Field(validation_alias="name")
    vendor: str


class CloudAccountOut(AccountOfGroupOut):
    account_id: str
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    note: str | None
    payer: bool
    project_id: str | None
    service_discount: None = None


class BillingGroupOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    name: str = Field(validation_alias="company_name")
    contact: str | None = Field(validation_alias="personal")
    title: str | None = Field(validation_alias="billing_title")
    address: str | None
    postal: str | None
    phone: str | None
    remarks: str | None
    inv_aggregate: bool
    language: str | None
    invoices: dict[Vendor, InvoiceSettingOut]
    support_fee_targets: dict[Vendor, SupportFeeTargetOut] = Field(validation_alias="invoices")
    additional_items: dict[Vendor, list[FreeFormatItemOut]]
    project_id: str | None
    project_code: str | None
    project_label: str | None
    project_currency: str | None
    invoice_template_id: str | None
    custom_fields: dict[str, Any] = {}
    account: list[AccountOfGroupOut]
    tag: list[Any] = []
