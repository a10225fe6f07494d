"""The display flags of a reseller account and their defaults."""

from collections.abc import Iterator, Mapping
from typing import Any

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated(
    "meta flags (all boolean; each controls whether a page or function is displayed "
    "to the reseller)"
)

SHOWN_AT_FIRST = (
    "dashboard_graph",
    "usage_account",
    "usage_account_graph",
    "usage_report_download",
    "usage_group",
    "usage_group_graph",
    "usage_tag",
    "usage_tag_graph",
    "usage_crosstag",
    "usage_crosstag_graph",
    "ri_purchased",
)
HIDDEN_AT_FIRST = (
    "aq_coverage_ratio",
    "aq_ri_management",
    "aq_ri_sp_instances",
    "aq_right_sizing",
    "aq_scheduling",
    "aq_sp_management",
    "usage_account_menu_account_edit",
    "usage_account_menu_budget",
    "usage_account_menu_budget_edit",
    "usage_account_menu_fees_fee",
    "usage_account_menu_fees_credit",
    "usage_account_menu_fees_refund",
    "usage_account_menu_fees_other_fees",
    "ri_utilization",
    "ri_recommendation",
    "sp_purchased",
    "invoice",
    "invoice_download_csv_discount",
    "invoice_download_csv_merged",
    "open_api",
    "users_management",
    "report_filters",
    "budgetalerts",
)

# a 35th flag appears in one sample request only
aq_link_basis = chosen("aq-link-flag")

FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(SHOWN_AT_FIRST, True),
    **dict.fromkeys(HIDDEN_AT_FIRST, False),
    "aq_link": False,
}


def flag_violations(meta: Any) -> Iterator[Violation]:
    """Every flag that is not one of ours or not true or false; its name is not repeated."""
    if not isinstance(meta, dict):
        return
    if not set(meta) <= set(FLAGS):
        yield Violation("meta", "known flags only")
    for name in FLAGS:
        if name in meta and not isinstance(meta[name], bool):
            yield Violation(f"meta.{name}", "true or false")
