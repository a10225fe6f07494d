"""The legacy AWS Cost and Usage Report: slash or snake_case headers, one column per tag."""

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
    "payer_id":             required("bill/PayerAccountId"),
    "customer_id":          required("lineItem/UsageAccountId"),
    "customer_name":        optional("lineItem/UsageAccountName"),
    "billing_entity":       required("bill/BillingEntity"),
    "marketplace":          required("bill/BillingEntity"),
    "period_start":         required("bill/BillingPeriodStartDate"),
    "line_type":            required("lineItem/LineItemType"),
    "service":              required("lineItem/ProductCode"),
    "service_name":         optional("product/ProductName"),
    "usage_type":           optional("lineItem/UsageType"),
    "description":          optional("lineItem/LineItemDescription"),
    "cost":                 required("lineItem/UnblendedCost"),
    "currency":             required("lineItem/CurrencyCode"),
    "usage_start":          required("lineItem/UsageStartDate"),
    "usage_end":            optional("lineItem/UsageEndDate"),
    "invoice_id":           optional("bill/InvoiceId"),
    "reservation_id":       optional("reservation/ReservationARN"),
    "savings_plan_id":      optional("savingsPlan/SavingsPlanARN"),
    "effective_cost":       optional("reservation/EffectiveCost"),
    "plan_effective_cost":  optional("savingsPlan/SavingsPlanEffectiveCost"),
    "plan_start":           optional("savingsPlan/StartTime"),
    "plan_end":             optional("savingsPlan/EndTime"),
    "plan_payment_option":  optional("savingsPlan/PaymentOption"),
    "plan_term_length":     optional("savingsPlan/PurchaseTerm"),
    "reservation_number":   optional("reservation/NumberOfReservations"),
    "reservation_start":    optional("reservation/StartTime"),
    "reservation_end":      optional("reservation/EndTime"),
    "instance_type":        optional("product/instanceType"),
    "modification_status":  optional("reservation/ModificationStatus"),
    "offer_class":          optional("pricing/OfferingClass"),
    "payment_option":       optional("pricing/PurchaseOption"),
    "platform":             optional("product/operatingSystem", "product/databaseEngine"),
    "region":               optional("product/regionCode", "product/region"),
    "zone":                 optional("reservation/AvailabilityZone", "lineItem/AvailabilityZone"),
    "tenancy":              optional("product/tenancy"),
    "term_length":          optional("pricing/LeaseContractLength"),
    "normalization_factor": optional("lineItem/NormalizationFactor"),
    "unblended_rate":       optional("lineItem/UnblendedRate"),
    "upfront_value":        optional("reservation/UpfrontValue"),
    "payer_name":           optional("bill/PayerAccountName"),
    "pricing_category":     optional("pricing/term"),
    "pricing_quantity":     optional("lineItem/UsageAmount"),
    "pricing_unit":         optional("pricing/unit"),
    "list_unit_price":      optional("pricing/publicOnDemandRate"),
    "sku_id":               optional("product/sku"),
    "sku_price_id":         optional("pricing/RateCode", "pricing/RateId"),
}

LINE_TYPES = {
    "Usage":                   USAGE,
    "DiscountedUsage":         USAGE,
    "RIFee":                   USAGE,
    "SavingsPlanCoveredUsage": USAGE,
    "SavingsPlanNegation":     USAGE,
    "SavingsPlanRecurringFee": USAGE,
    "Fee":                     entry_class(EntryType.fee),
    "Credit":                  entry_class(EntryType.credit),
    "Refund":                  entry_class(EntryType.refund),
    "SavingsPlanUpfrontFee":   entry_class(EntryType.upfront),
    "Tax":                     TAX,
}
# fmt: on

MARKETPLACE = "AWS Marketplace"

# See docs/choices.md, pro-forma-reports.


def classify(line_type: str) -> LineClass:
    """Every type that ends in Discount is a discount: AWS has many and adds new ones."""
    return LINE_TYPES.get(line_type, DISCOUNT if line_type.endswith("Discount") else UNKNOWN)


def normalize_tag_key(key: str) -> str:
    """`user:Team` and `user_Team` are the customer's tag `Team`; keys of AWS keep `aws:`."""
    for prefix in ("user:", "user_"):
        if key.startswith(prefix):
            return key.removeprefix(prefix)
    return "aws:" + key.removeprefix("aws_") if key.startswith("aws_") else key


AWS_CUR = Format(
    name="aws_cur",
    title="AWS Cost and Usage Report",
    vendor="aws",
    identifying_columns=("lineItem/LineItemType", "lineItem/UnblendedCost"),
    columns=COLUMNS,
    classify=classify,
    is_marketplace=lambda entity: entity == MARKETPLACE,
    tag_prefix="resourceTags/",
    normalize_tag_key=normalize_tag_key,
    # AWS has no amortised report; some tools write the effective cost into the column of the
    # unblended one. Savings plans show nothing: some of their rates equal the price on demand.
    amortised=AmortisedCosts(
        line_types=("DiscountedUsage",),
        equals_field="effective_cost",
        instead="the report as AWS delivers it, with unblended costs",
    ),
)
