"""Display flags of a reseller account and their defaults."""

from collections.abc import Iterator, Mapping
from typing import Any

from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation

basis = stated("meta flags")

VISIBLE_BY_DEFAULT = (
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
HIDDEN_BY_DEFAULT = (
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

# This flag is not in the specification's list; it only appears in a sample request.
aq_link_basis = chosen("aq-link-flag")

FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(VISIBLE_BY_DEFAULT, True),
    **dict.fromkeys(HIDDEN_BY_DEFAULT, False),
    "aq_link": False,
}


def find_flag_violations(meta: Any) -> Iterator[Violation]:
    """Report unknown flags, without repeating their names, and values that are not boolean."""
    if not isinstance(meta, dict):
        return
    if not set(meta) <= set(FLAGS):
        yield Violation("meta", "known flags only")
    for name in FLAGS:
        if name in meta and not isinstance(meta[name], bool):
            yield Violation(f"meta.{name}", "true or false")
