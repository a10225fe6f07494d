"""The months of a report, and what is refused."""

import pytest

from nimbill.foundation.calendar_month import add_months
from nimbill.foundation.errors import Invalid
from nimbill.portal.report_months import MONTHS_MAX, list_months, list_report_months


@pytest.mark.parametrize(
    ("parameters", "months"),
    [
        (("2026-09", None, None), ["2026-09"]),
        ((None, "2025-12", "2026-02"), ["2025-12", "2026-01", "2026-02"]),
        ((None, None, "2026-02"), ["2026-02"]),
        ((None, "9999-12", "9999-12"), ["9999-12"]),
    ],
)
def test_months_are_listed_in_order(
    parameters: tuple[str | None, str | None, str | None], months: list[str]
) -> None:
    assert list_report_months(*parameters) == months


def test_a_report_has_at_most_24_months() -> None:
    assert MONTHS_MAX == 24
    assert len(list_report_months(None, "2024-10", "2026-09")) == 24
    with pytest.raises(Invalid):
        list_report_months(None, "2024-09", "2026-09")


def test_a_last_month_before_the_first_is_refused() -> None:
    assert list_months("2026-10", "2026-09") == []
    with pytest.raises(Invalid):
        list_report_months(None, "2026-10", "2026-09")


@pytest.mark.parametrize(
    ("month", "count", "expected"),
    [("2026-12", 1, "2027-01"), ("2026-01", -1, "2025-12"), ("2026-06", 0, "2026-06")],
)
def test_months_are_counted_across_years(month: str, count: int, expected: str) -> None:
    assert add_months(month, count) == expected
