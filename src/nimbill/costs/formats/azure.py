"""Azure cost exports (actual cost), in the dialects of EA, MCA and older downloads."""

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.format import (
    DISCOUNT,
    TAX,
    UNKNOWN,
    USAGE,
    Format,
    Meaning,
    entry,
    may,
    needs,
)

# fmt: off
COLUMNS = {
    "payer_id":          may("BillingAccountId"),  # pay-as-you-go downloads have none
    "customer_id":       needs("SubscriptionId", "SubscriptionGuid"),
    "customer_name":     may("SubscriptionName"),
    "billing_entity":    may("PublisherType"),
    "marketplace":       may("PublisherType"),
    "period_start":      may("BillingPeriodStartDate"),
    "line_type":         may("ChargeType"),        # nor this: there all is usage
    "service":           may("MeterCategory"),
    "service_else":      may("ConsumedService"),
    "service_name":      may("ProductName", "Product"),
    "usage_type":        may("MeterName"),
    "description":       may("ProductName", "Product", "MeterName"),
    "cost":              needs("CostInBillingCurrency", "Cost", "PreTaxCost"),
    "currency":          needs("BillingCurrency", "BillingCurrencyCode", "Currency"),
    "usage_start":       needs("Date", "UsageDateTime"),
    "invoice_id":        may("InvoiceId"),
    "reservation_id":    may("ReservationId"),
    "pricing_model":     may("PricingModel"),
    "benefit_id":        may("BenefitId"),
    "region":            may("ResourceLocation", "MeterRegion"),
    "term_length":       may("Term"),
    "unblended_rate":    may("EffectivePrice"),
    "tags":              may("Tags"),
}

LINE_TYPES = {
    "Usage":              USAGE,
    "Purchase":           entry(EntryType.fee),
    "Refund":             entry(EntryType.refund),
    "RoundingAdjustment": entry(EntryType.fee),
    "Tax":                TAX,
    "Credit":             DISCOUNT,
}

# these stand in amortised exports alone, and those are never added to actual costs
AMORTISED = {
    "UnusedReservation": "amortised",
    "UnusedSavingsPlan": "amortised",
}
# fmt: on


def meaning_of(line_type: str) -> Meaning:
    return LINE_TYPES.get(line_type, UNKNOWN)


AZURE = Format(
    name="azure",
    vendor="azure",
    known_by=("SubscriptionId|SubscriptionGuid", "CostInBillingCurrency|Cost|PreTaxCost"),
    columns=COLUMNS,
    meaning_of=meaning_of,
    is_marketplace=lambda publisher_type: publisher_type == "Marketplace",
    line_type_default="Usage",
    refused_types=AMORTISED,
)
