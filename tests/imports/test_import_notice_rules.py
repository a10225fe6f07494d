"""What an import tells about its progress and about what was odd."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.imports.import_notice_rules import (
    AFFECTED_MAX,
    Notice,
    calculate_percent,
    list_notices,
)


def test_nothing_odd_is_an_empty_list() -> None:
    noticed = {"rounded_lines": 0, "other_vendors": {}, "formats": ["CUR"]}

    assert list_notices({}) == []
    assert list_notices({"noticed": noticed, "currencies": {"USD": 3}}) == []


@pytest.mark.parametrize(
    ("report", "notice"),
    [
        ({"differences": [{"customer_id": "1"}]}, Notice("second_reading_differs", 1, ["1"])),
        ({"accounts_in_no_group": ["2", "1"]}, Notice("account_in_no_group", 2, ["1", "2"])),
        ({"unknown_types": {"New": 7}}, Notice("unknown_line_type", 1, ["New"])),
        (
            {"noticed": {"paid_by_another": {"1": ["9"]}}},
            Notice("paid_by_another_payer", 1, ["1"]),
        ),
        (
            {"noticed": {"also_paid_by": {"1": ["9"]}}},
            Notice("also_paid_by_another_payer", 1, ["1"]),
        ),
        (
            {"noticed": {"other_vendors": {"azure": 5}}},
            Notice("line_of_another_vendor", 1, ["azure"]),
        ),
        ({"currencies": {"USD": 1, "JPY": 2}}, Notice("several_currencies", 2, ["JPY", "USD"])),
        ({"noticed": {"usage_outside_month": 4}}, Notice("usage_outside_month", 4, [])),
        ({"noticed": {"rounded_lines": 3}}, Notice("rounded_line", 3, [])),
        ({"noticed": {"unreadable_tags": 2}}, Notice("unreadable_tags", 2, [])),
    ],
)
def test_each_odd_thing_has_a_code_a_count_and_names(
    report: dict[str, Any], notice: Notice
) -> None:
    assert list_notices(report) == [notice]


def test_at_most_ten_names_are_listed() -> None:
    (notice,) = list_notices({"accounts_in_no_group": [str(number) for number in range(50)]})

    assert (notice.count, len(notice.affected)) == (50, AFFECTED_MAX)


@pytest.mark.parametrize(
    ("state", "step", "percent"),
    [
        ("waiting", None, 0),
        ("running", None, 0),
        ("running", "fetching", 0),
        ("running", "reading", 25),
        ("running", "checking", 50),
        ("running", "summing", 75),
        ("done", "summing", 100),
        ("parked", None, 100),
    ],
)
def test_percent_is_the_share_of_finished_steps(state: str, step: str | None, percent: int) -> None:
    assert calculate_percent(state, {} if step is None else {"step": step}) == percent
