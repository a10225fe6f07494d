"""FOCUS 1.0 to 1.4: one file may contain several vendors, named in a column."""

from collections.abc import Mapping

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.format import (
    TAX,
    UNKNOWN,
    USAGE,
    AmortisedCosts,
    Cleaner,
    Column,
    Format,
    LineClass,
    entry_class,
    optional,
    required,
)
from nimbill.foundation.vendor_names import PROVIDER_NAMES

ID_PATH_PREFIXES = ("/subscriptions/", "/providers/microsoft.billing/billingaccounts/")


def strip_id_path(id_: str) -> str:
    """Microsoft writes ids as paths; accounts are identified by the last part."""
    lowered = id_.lower()
    for prefix in ID_PATH_PREFIXES:
        if lowered.startswith(prefix):
            return id_[len(prefix) :].split("/")[0]
    return id_


ID_PATH = Cleaner(
    strip_id_path,
    pattern=r"^/(subscriptions|providers/microsoft\.billing/billingaccounts)/([^/]*).*$",
    replacement=r"\2",
)

# fmt: off
COLUMNS = {
    "payer_id":          Column(("BillingAccountId",), required=True, cleaner=ID_PATH),
    # absent if the provider has no sub-accounts: the billing account is charged itself
    "customer_id":       Column(("SubAccountId",), cleaner=ID_PATH),
    "customer_name":     optional("SubAccountName"),
    "billing_entity":    optional(
        "x_NimbillBillingEntity", "PublisherName", "ServiceProviderName"
    ),
    "marketplace":       optional("PublisherName"),     # deprecated in 1.3
    "provider":          required("ProviderName", "ServiceProviderName"),  # before and since 1.3
    "invoice_issuer":    optional("InvoiceIssuerName"),
    "period_start":      required("BillingPeriodStart"),
    "line_type":         required("ChargeCategory"),
    "charge_class":      optional("ChargeClass"),
    # only in files exported by Nimbill: values that FOCUS has no column for
    "nimbill_line_type": optional("x_NimbillLineType"),
    "nimbill_kind":      optional("x_NimbillKind"),
    "nimbill_entry_type": optional("x_NimbillEntryType"),
    "service":           required("ServiceName"),
    "service_name":      optional("x_NimbillServiceName", "ServiceName"),
    "usage_type":        optional("SkuMeter", "SkuId"),
    "description":       optional("ChargeDescription"),
    "cost":              required("BilledCost"),
    "currency":          required("BillingCurrency"),
    "usage_start":       required("ChargePeriodStart"),
    "usage_end":         optional("ChargePeriodEnd"),
    "invoice_id":        optional("InvoiceId"),
    "commitment_id":     optional("CommitmentDiscountId"),
    "commitment":        optional("CommitmentDiscountCategory"),
    "commitment_status": optional("CommitmentDiscountStatus"),
    "effective_cost":    optional("EffectiveCost"),
    "region":            optional("RegionId"),
    "zone":              optional("AvailabilityZone"),
    "payer_name":        optional("BillingAccountName"),
    "pricing_category":  optional("PricingCategory"),
    "pricing_quantity":  optional("PricingQuantity"),
    "pricing_unit":      optional("PricingUnit"),
    "list_unit_price":   optional("ListUnitPrice"),
    "list_cost":         optional("ListCost"),
    "contracted_unit_price": optional("ContractedUnitPrice"),
    "contracted_cost":   optional("ContractedCost"),
    "consumed_quantity": optional("ConsumedQuantity"),
    "consumed_unit":     optional("ConsumedUnit"),
    "sku_id":            optional("SkuId"),
    "sku_price_id":      optional("SkuPriceId"),
    "service_category":  optional("ServiceCategory"),
    "service_subcategory": optional("ServiceSubcategory"),
    "charge_frequency":  optional("ChargeFrequency"),
    "tags":              optional("Tags"),
}

CATEGORIES = {
    "Usage":      USAGE,
    "Purchase":   entry_class(EntryType.fee),
    "Credit":     entry_class(EntryType.credit),
    "Adjustment": entry_class(EntryType.fee),
    "Tax":        TAX,
}

# what the names of a vendor's companies in all countries begin with
COMPANY_NAMES: Mapping[str, tuple[str, ...]] = {
    "aws":   ("amazon web services", "amazon internet services"),
    "azure": ("microsoft",),
    "gcp":   ("google",),
}
# fmt: on

CORRECTION = " Correction"  # appended to the category of a charge that corrects an invoiced period


def classify(line_type: str) -> LineClass:
    if line_type.endswith(CORRECTION):
        corrected = CATEGORIES.get(line_type.removesuffix(CORRECTION), UNKNOWN)
        if corrected in (TAX, UNKNOWN):
            return corrected
        return entry_class(corrected.entry_type or EntryType.refund)
    return CATEGORIES.get(line_type, UNKNOWN)


def find_vendor(provider: str) -> str | None:
    return next(
        (vendor for vendor, names in PROVIDER_NAMES.items() if provider.lower() in names), None
    )


def find_company_vendor(name: str) -> str | None:
    """Return the vendor that a company belongs to, for example Amazon Web Services EMEA SARL."""
    lowered = name.lower()
    return find_vendor(name) or next(
        (vendor for vendor, names in COMPANY_NAMES.items() if lowered.startswith(names)), None
    )


FOCUS = Format(
    name="focus",
    title="FOCUS file",
    vendor=None,
    identifying_columns=("BilledCost", "ChargeCategory", "ProviderName|ServiceProviderName"),
    columns=COLUMNS,
    classify=classify,
    # any other publisher sells through the marketplace of the vendor
    is_marketplace=lambda publisher: publisher != "" and find_company_vendor(publisher) is None,
    # The standard demands that BilledCost is 0 here. Other vendors may charge what is used.
    amortised=AmortisedCosts(
        field="commitment_status",
        values=("used", "unused"),
        line_types=("Usage",),
        vendors=("aws", "azure"),
        instead="a FOCUS file whose BilledCost is the invoiced cost, not the effective one",
    ),
)
