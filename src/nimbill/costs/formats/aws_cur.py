"""AWS Cost and Usage Report, legacy: slash or snake_case headers, one column per tag."""

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
    "payer_id":             needs("bill/PayerAccountId"),
    "customer_id":          needs("lineItem/UsageAccountId"),
    "customer_name":        may("lineItem/UsageAccountName"),
    "billing_entity":       needs("bill/BillingEntity"),
    "marketplace":          needs("bill/BillingEntity"),
    "period_start":         needs("bill/BillingPeriodStartDate"),
    "line_type":            needs("lineItem/LineItemType"),
    "service":              needs("lineItem/ProductCode"),
    "service_name":         may("product/ProductName"),
    "usage_type":           may("lineItem/UsageType"),
    "description":          may("lineItem/LineItemDescription"),
    "cost":                 needs("lineItem/UnblendedCost"),
    "currency":             needs("lineItem/CurrencyCode"),
    "usage_start":          needs("lineItem/UsageStartDate"),
    "usage_end":            may("lineItem/UsageEndDate"),
    "invoice_id":           may("bill/InvoiceId"),
    "reservation_id":       may("reservation/ReservationARN"),
    "savings_plan_id":      may("savingsPlan/SavingsPlanARN"),
    "effective_cost":       may("reservation/EffectiveCost"),
    "plan_effective_cost":  may("savingsPlan/SavingsPlanEffectiveCost"),
    "reservation_number":   may("reservation/NumberOfReservations"),
    "reservation_start":    may("reservation/StartTime"),
    "reservation_end":      may("reservation/EndTime"),
    "instance_type":        may("product/instanceType"),
    "modification_status":  may("reservation/ModificationStatus"),
    "offer_class":          may("pricing/OfferingClass"),
    "payment_option":       may("pricing/PurchaseOption"),
    "platform":             may("product/operatingSystem", "product/databaseEngine"),
    "region":               may("product/regionCode", "product/region"),
    "zone":                 may("reservation/AvailabilityZone", "lineItem/AvailabilityZone"),
    "tenancy":              may("product/tenancy"),
    "term_length":          may("pricing/LeaseContractLength"),
    "normalization_factor": may("lineItem/NormalizationFactor"),
    "unblended_rate":       may("lineItem/UnblendedRate"),
    "upfront_value":        may("reservation/UpfrontValue"),
}

LINE_TYPES = {
    "Usage":                   USAGE,
    "DiscountedUsage":         USAGE,
    "RIFee":                   USAGE,
    "SavingsPlanCoveredUsage": USAGE,
    "SavingsPlanNegation":     USAGE,
    "SavingsPlanRecurringFee": USAGE,
    "Fee":                     entry(EntryType.fee),
    "Credit":                  entry(EntryType.credit),
    "Refund":                  entry(EntryType.refund),
    "SavingsPlanUpfrontFee":   entry(EntryType.upfront),
    "Tax":                     TAX,
}
# fmt: on

MARKETPLACE = "AWS Marketplace"


def meaning_of(line_type: str) -> Meaning:
    """Every word that ends in Discount is one; there are many, and new ones come."""
    return LINE_TYPES.get(line_type, DISCOUNT if line_type.endswith("Discount") else UNKNOWN)


def tag_key(written: str) -> str:
    """`user:Team` and `user_Team` are the customer's own `Team`; AWS's own keep their `aws:`."""
    for mark in ("user:", "user_"):
        if written.startswith(mark):
            return written.removeprefix(mark)
    return "aws:" + written.removeprefix("aws_") if written.startswith("aws_") else written


AWS_CUR = Format(
    name="aws_cur",
    vendor="aws",
    known_by=("lineItem/LineItemType", "lineItem/UnblendedCost"),
    columns=COLUMNS,
    meaning_of=meaning_of,
    is_marketplace=lambda entity: entity == MARKETPLACE,
    tag_prefix="resourceTags/",
    tag_key=tag_key,
)
