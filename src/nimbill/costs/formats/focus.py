"""FOCUS 1.0, 1.1 and 1.2: one file may contain several vendors, named in a column."""

from collections.abc import Mapping

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.format import (
    TAX,
    UNKNOWN,
    USAGE,
    Column,
    Format,
    LineClass,
    entry_class,
    optional,
    required,
)

ID_PATH_PREFIXES = ("/subscriptions/", "/providers/microsoft.billing/billingaccounts/")


def strip_id_path(id_: str) -> str:
    """Microsoft writes ids as paths; accounts are identified by the last part."""
    lowered = id_.lower()
    for prefix in ID_PATH_PREFIXES:
        if lowered.startswith(prefix):
            return id_[len(prefix) :].split("/")[0]
    return id_


# fmt: off
COLUMNS = {
    "payer_id":          Column(("BillingAccountId",), required=True, clean=strip_id_path),
    "customer_id":       Column(("SubAccountId",), required=True, clean=strip_id_path),
    "customer_name":     optional("SubAccountName"),
    "billing_entity":    optional("x_NimbillBillingEntity", "PublisherName"),
    "marketplace":       optional("PublisherName"),
    "provider":          required("ProviderName"),
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
    "commitment_status": optional("CommitmentDiscountStatus"),
    "tags":              optional("Tags"),
}

CATEGORIES = {
    "Usage":      USAGE,
    "Purchase":   entry_class(EntryType.fee),
    "Credit":     entry_class(EntryType.credit),
    "Adjustment": entry_class(EntryType.fee),
    "Tax":        TAX,
}

# names of each vendor as provider and publisher; any other publisher sells through the vendor's
# marketplace
VENDOR_NAMES: Mapping[str, tuple[str, ...]] = {
    "aws":   ("aws", "amazon", "amazon web services", "amazon web services, inc."),
    "azure": ("microsoft", "azure", "microsoft azure", "microsoft corporation"),
    "gcp":   ("google", "gcp", "google cloud", "google cloud platform", "google llc"),
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
        (vendor for vendor, names in VENDOR_NAMES.items() if provider.lower() in names), None
    )


FOCUS = Format(
    name="focus",
    vendor=None,
    identifying_columns=("BilledCost", "ChargeCategory", "ProviderName"),
    columns=COLUMNS,
    classify=classify,
    is_marketplace=lambda publisher: publisher != "" and find_vendor(publisher) is None,
)
