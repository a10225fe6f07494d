"""FOCUS 1.0, 1.1 and 1.2: one file may hold several vendors, and a column says which."""

from collections.abc import Mapping

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.format import (
    TAX,
    UNKNOWN,
    USAGE,
    Column,
    Format,
    Meaning,
    entry,
    may,
    needs,
)

PREFIXES = ("/subscriptions/", "/providers/microsoft.billing/billingaccounts/")


def bare_id(written: str) -> str:
    """Microsoft writes ids as paths; what we know accounts by is their last part."""
    lowered = written.lower()
    for prefix in PREFIXES:
        if lowered.startswith(prefix):
            return written[len(prefix) :].split("/")[0]
    return written


# fmt: off
COLUMNS = {
    "payer_id":          Column(("BillingAccountId",), required=True, clean=bare_id),
    "customer_id":       Column(("SubAccountId",), required=True, clean=bare_id),
    "customer_name":     may("SubAccountName"),
    "billing_entity":    may("x_NimbillBillingEntity", "PublisherName"),
    "marketplace":       may("PublisherName"),
    "provider":          needs("ProviderName"),
    "period_start":      needs("BillingPeriodStart"),
    "line_type":         needs("ChargeCategory"),
    "charge_class":      may("ChargeClass"),
    # of a file that was written here: what FOCUS has no words for
    "told_line_type":    may("x_NimbillLineType"),
    "told_kind":         may("x_NimbillKind"),
    "told_entry_type":   may("x_NimbillEntryType"),
    "service":           needs("ServiceName"),
    "service_name":      may("ServiceName"),
    "usage_type":        may("SkuMeter", "SkuId"),
    "description":       may("ChargeDescription"),
    "cost":              needs("BilledCost"),
    "currency":          needs("BillingCurrency"),
    "usage_start":       needs("ChargePeriodStart"),
    "usage_end":         may("ChargePeriodEnd"),
    "invoice_id":        may("InvoiceId"),
    "commitment_id":     may("CommitmentDiscountId"),
    "commitment":        may("CommitmentDiscountCategory"),
    "effective_cost":    may("EffectiveCost"),
    "region":            may("RegionId"),
    "zone":              may("AvailabilityZone"),
    "tags":              may("Tags"),
}

CATEGORIES = {
    "Usage":      USAGE,
    "Purchase":   entry(EntryType.fee),
    "Credit":     entry(EntryType.credit),
    "Adjustment": entry(EntryType.fee),
    "Tax":        TAX,
}

# the names under which a vendor provides and publishes; a publisher that is none of them sells
# through the vendor's marketplace
NAMES: Mapping[str, tuple[str, ...]] = {
    "aws":   ("aws", "amazon", "amazon web services", "amazon web services, inc."),
    "azure": ("microsoft", "azure", "microsoft azure", "microsoft corporation"),
    "gcp":   ("google", "gcp", "google cloud", "google cloud platform", "google llc"),
}
# fmt: on

CORRECTION = " Correction"  # of a period that was invoiced already


def meaning_of(line_type: str) -> Meaning:
    if line_type.endswith(CORRECTION):
        of = CATEGORIES.get(line_type.removesuffix(CORRECTION), UNKNOWN)
        return of if of in (TAX, UNKNOWN) else entry(of.entry_type or EntryType.refund)
    return CATEGORIES.get(line_type, UNKNOWN)


def vendor_of(provider: str) -> str | None:
    return next((vendor for vendor, names in NAMES.items() if provider.lower() in names), None)


FOCUS = Format(
    name="focus",
    vendor=None,
    known_by=("BilledCost", "ChargeCategory", "ProviderName"),
    columns=COLUMNS,
    meaning_of=meaning_of,
    is_marketplace=lambda publisher: publisher != "" and vendor_of(publisher) is None,
)
