"""What was odd about an import, and how far it has come, in a form that a page can show."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nimbill.foundation.basis import chosen

basis = chosen("import-notices")

AFFECTED_MAX = 10
# The steps of a running import, in order.
STEPS = ("fetching", "reading", "checking", "summing")
UNFINISHED_STATES = ("waiting", "running")


@dataclass(frozen=True, slots=True)
class Notice:
    code: str
    count: int
    affected: list[str]


def list_notices(report: Mapping[str, Any]) -> list[Notice]:
    """List what was noticed, in the order of its weight for the invoices."""
    return [notice for notice in _iterate_notices(report) if notice.count]


def _iterate_notices(report: Mapping[str, Any]) -> Iterator[Notice]:
    noticed: Mapping[str, Any] = report.get("noticed", {})
    differences = [difference.get("customer_id") for difference in report.get("differences", [])]
    yield _name_keys("second_reading_differs", [str(name) for name in differences])
    yield _name_keys("account_in_no_group", report.get("accounts_in_no_group", []))
    yield _name_keys("unknown_line_type", report.get("unknown_types", {}))
    yield _name_keys("paid_by_another_payer", noticed.get("paid_by_another", {}))
    yield _name_keys("also_paid_by_another_payer", noticed.get("also_paid_by", {}))
    yield _name_keys("line_of_another_vendor", noticed.get("other_vendors", {}))
    currencies = report.get("currencies", {})
    yield _name_keys("several_currencies", currencies if len(currencies) > 1 else {})
    for code, name in (
        ("usage_outside_month", "usage_outside_month"),
        ("rounded_line", "rounded_lines"),
        ("unreadable_tags", "unreadable_tags"),
    ):
        yield Notice(code, int(noticed.get(name, 0)), [])


def _name_keys(code: str, names: Iterable[str]) -> Notice:
    affected = sorted(names)
    return Notice(code, len(affected), affected[:AFFECTED_MAX])


def calculate_percent(state: str, progress: Mapping[str, Any]) -> int:
    """The share of finished steps; how long a step takes is not known before it ends."""
    if state not in UNFINISHED_STATES:
        return 100
    step = progress.get("step")
    return 100 * STEPS.index(step) // len(STEPS) if step in STEPS else 0
