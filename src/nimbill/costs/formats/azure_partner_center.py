"""Azure usage of a partner's customers: Partner Center's daily rated usage, billed or unbilled."""

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.focus import find_company_vendor
from nimbill.costs.formats.format import (
    UNKNOWN,
    USAGE,
    Format,
    LineClass,
    entry_class,
    optional,
    required,
)

# See docs/choices.md, partner-center-files.

# fmt: off
COLUMNS = {
    "payer_id":          required("PartnerId"),
    # the Azure subscription; SubscriptionId is the customer's Azure plan
    "customer_id":       required("EntitlementId", "SubscriptionId"),
    "customer_fallback": optional("SubscriptionId"),
    "customer_name":     optional("EntitlementDescription", "SubscriptionDescription"),
    "billing_entity":    optional("PublisherName"),
    "marketplace":       optional("PublisherName"),
    "period_start":      required("ChargeStartDate"),
    "line_type":         required("ChargeType"),
    "service":           optional("MeterCategory"),
    "service_fallback":  optional("ConsumedService"),
    "service_name":      optional("ProductName", "SkuName"),
    "usage_type":        optional("MeterName"),
    "description":       optional("ProductName", "SkuName", "MeterName"),
    "cost":              required("BillingPreTaxTotal"),
    "currency":          required("BillingCurrency"),
    "usage_start":       required("UsageDate"),
    "invoice_id":        optional("InvoiceNumber"),
    "benefit_id":        optional("BenefitId"),
    "pricing_model":     optional("BenefitType"),
    "region":            optional("ResourceLocation", "MeterRegion"),
    "unblended_rate":    optional("EffectiveUnitPrice"),
    "tags":              optional("Tags"),
}

LINE_TYPES = {  # in lower case: the portal and the API write them differently
    "new":            USAGE,
    "customercredit": entry_class(EntryType.credit),
    "credit":         entry_class(EntryType.credit),
    "refund":         entry_class(EntryType.refund),
}
# fmt: on


def classify(line_type: str) -> LineClass:
    return LINE_TYPES.get(line_type.lower(), UNKNOWN)


AZURE_PARTNER_CENTER = Format(
    name="azure_partner_center",
    title="Azure daily rated usage of Partner Center",
    vendor="azure",
    identifying_columns=("PartnerId", "BillingPreTaxTotal", "UsageDate"),
    columns=COLUMNS,
    classify=classify,
    is_marketplace=lambda name: name != "" and find_company_vendor(name) != "azure",
    states_invoices=True,
    has_late_usage=True,
)
