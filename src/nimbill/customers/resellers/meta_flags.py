"""Display flags of a reseller account and their defaults."""

import re
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


# The published sample script sends `aq_link` under this name.
ALIASES: Mapping[str, str] = {"aqua_link": "aq_link"}

# Only a name of this form is repeated in an error: it cannot contain a script or an address.
_FLAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_MAX_NAMED = 20

null_basis = chosen("unknown-fields-and-null")


def read_flags(meta: Mapping[str, bool | None]) -> dict[str, bool]:
    """Return the flags that were sent, by their own names; null means absent."""
    return {ALIASES.get(name, name): value for name, value in meta.items() if value is not None}


def find_flag_violations(meta: Any) -> Iterator[Violation]:
    """Report unknown flags, values that are not boolean, and an alias that contradicts its flag."""
    if not isinstance(meta, dict):
        return
    yield from _find_unknown_flags(meta)
    for name in (*FLAGS, *ALIASES):
        if meta.get(name) is not None and not isinstance(meta[name], bool):
            yield Violation(f"meta.{name}", "true or false")
    for alias, name in ALIASES.items():
        if isinstance(meta.get(name), bool) and meta.get(alias) is (not meta[name]):
            yield Violation(f"meta.{alias}", f"the value of {name}, of which it is another name")


def _find_unknown_flags(meta: Mapping[str, Any]) -> Iterator[Violation]:
    """Name unknown flags that look like names; report all others together."""
    unknown = [name for name in meta if name not in FLAGS and name not in ALIASES]
    named = [name for name in unknown if _FLAG_NAME.fullmatch(name)][:_MAX_NAMED]
    for name in named:
        yield Violation(f"meta.{name}", "not a known flag")
    if len(named) < len(unknown):
        yield Violation("meta", "known flags only")
