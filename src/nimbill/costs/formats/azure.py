"""Azure cost exports (actual cost), in the dialects of EA, MCA and older downloads."""

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.format import (
    DISCOUNT,
    TAX,
    UNKNOWN,
    USAGE,
    AmortisedCosts,
    Format,
    LineClass,
    entry_class,
    optional,
    required,
)

# fmt: off
COLUMNS = {
    "payer_id":          optional("BillingAccountId"),  # absent in pay-as-you-go downloads
    "customer_id":       required("SubscriptionId", "SubscriptionGuid"),
    "customer_name":     optional("SubscriptionName"),
    "billing_entity":    optional("PublisherType"),
    "marketplace":       optional("PublisherType"),
    "period_start":      optional("BillingPeriodStartDate"),
    "line_type":         optional("ChargeType"),        # also absent there: every line is usage
    "service":           optional("MeterCategory"),
    "service_fallback":      optional("ConsumedService"),
    "service_name":      optional("ProductName", "Product"),
    "usage_type":        optional("MeterName"),
    "description":       optional("ProductName", "Product", "MeterName"),
    "cost":              required("CostInBillingCurrency", "Cost", "PreTaxCost"),
    "currency":          required("BillingCurrency", "BillingCurrencyCode", "Currency"),
    "usage_start":       required("Date", "UsageDateTime"),
    "invoice_id":        optional("InvoiceId"),
    "reservation_id":    optional("ReservationId"),
    "pricing_model":     optional("PricingModel"),
    "benefit_id":        optional("BenefitId"),
    "region":            optional("ResourceLocation", "MeterRegion"),
    "term_length":       optional("Term"),
    "unblended_rate":    optional("EffectivePrice"),
    "payer_name":        optional("BillingAccountName"),
    "pricing_category":  optional("PricingModel"),
    "pricing_quantity":  optional("Quantity", "UsageQuantity"),
    "pricing_unit":      optional("UnitOfMeasure"),
    "list_unit_price":   optional("PayGPrice"),
    "contracted_unit_price": optional("UnitPrice"),
    "sku_id":            optional("MeterId"),
    "charge_frequency":  optional("Frequency"),
    "tags":              optional("Tags"),
}

LINE_TYPES = {
    "Usage":              USAGE,
    "Purchase":           entry_class(EntryType.fee),
    "Refund":             entry_class(EntryType.refund),
    "RoundingAdjustment": entry_class(EntryType.fee),
    "Tax":                TAX,
    "Credit":             DISCOUNT,
}
# fmt: on

AMORTISED = AmortisedCosts(
    field="pricing_model",
    values=("reservation", "savingsplan"),
    id_field="reservation_id",  # older exports have no PricingModel
    line_types=("Usage",),
    instead="an export of type ActualCost",
)


def classify(line_type: str) -> LineClass:
    return LINE_TYPES.get(line_type, UNKNOWN)


AZURE = Format(
    name="azure",
    title="Azure cost export",
    vendor="azure",
    identifying_columns=(
        "SubscriptionId|SubscriptionGuid",
        "CostInBillingCurrency|Cost|PreTaxCost",
    ),
    columns=COLUMNS,
    classify=classify,
    is_marketplace=lambda publisher_type: publisher_type == "Marketplace",
    line_type_default="Usage",
    amortised=AMORTISED,
    amortised_types=("UnusedReservation", "UnusedSavingsPlan"),
)
