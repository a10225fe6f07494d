"""The BigQuery export for GCP resellers, `reseller_billing_detailed_export_v1`.

Its columns are nested: structs in Parquet, objects in JSON Lines, dotted names in CSV.
"""

import re
from functools import lru_cache

from nimbill.costs.cost_line import EntryType
from nimbill.costs.formats.format import (
    TAX,
    UNKNOWN,
    USAGE,
    Format,
    LineClass,
    NestedColumns,
    entry_class,
    optional,
    required,
)
from nimbill.costs.formats.line_rules import RuleViolation

# See docs/choices.md, gcp-export.

# fmt: off
COLUMNS = {
    "payer_id":         required("payer_billing_account_id"),
    "customer_id":      required("billing_account_id"),
    "billing_entity":   optional("seller_name"),
    "marketplace":      optional("seller_name"),
    "period_start":     required("invoice.month"),
    "line_type":        required("cost_type"),
    "service":          required("service.description"),
    "service_fallback": optional("service.id"),
    "service_name":     optional("service.description"),
    "usage_type":       optional("sku.description"),
    "description":      optional("sku.description"),
    "adjustment":       optional("adjustment_info.description"),
    "cost":             required("cost"),
    "credits":          optional("credits", "credits.amount"),
    "currency":         required("currency"),
    "usage_start":      required("usage_start_time"),
    "usage_end":        optional("usage_end_time"),
    "region":           optional("location.region", "location.location"),
    "zone":             optional("location.zone"),
    "project_id":       optional("project.id"),
    "tags":             optional("labels"),
}

COST_TYPES = {
    "regular":        USAGE,
    "tax":            TAX,
    "adjustment":     entry_class(EntryType.fee),
    "rounding_error": entry_class(EntryType.fee),
}
# fmt: on

_MONTH = re.compile(r"([1-9][0-9]{3})(0[1-9]|1[0-2])", re.ASCII)


def classify(cost_type: str) -> LineClass:
    """Google writes `rounding_error` in some tables and `rounding error` in others."""
    return COST_TYPES.get(cost_type.lower().replace(" ", "_"), UNKNOWN)


@lru_cache(maxsize=64)
def parse_invoice_month(text: str) -> str:
    """Return yyyy-mm of an invoice month, which is written yyyymm."""
    match = _MONTH.fullmatch(text)
    if match is None:
        raise RuleViolation("invoice_month")
    return f"{match[1]}-{match[2]}"


GCP_EXPORT = Format(
    name="gcp_export",
    title="GCP reseller export",
    vendor="gcp",
    identifying_columns=("payer_billing_account_id", "invoice.month", "cost_type", "cost"),
    columns=COLUMNS,
    classify=classify,
    # Google sells its own services through companies of several countries
    is_marketplace=lambda seller: seller != "" and not seller.lower().startswith("google"),
    tag_prefix="labels.",
    project_tag="project.id",  # labels cannot have this key: they contain no dots
    nested=NestedColumns(mark="invoice", credits="credits", labels="labels"),
    parse_month=parse_invoice_month,
)
