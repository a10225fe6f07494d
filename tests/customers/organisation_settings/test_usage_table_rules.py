"""Rules of the usage table."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.customers.organisation_settings.usage_table_rules import (
    BANDS_MAX,
    find_usage_table_violations,
)

RISING = "more than in the band before"


def check(table: Any) -> list[tuple[str, str]]:
    return [(violation.field, violation.rule) for violation in find_usage_table_violations(table)]


def bands(*limits: Any, rate: Any = 0) -> list[dict[str, Any]]:
    return [{"upto": limit, "rate": rate} for limit in limits]


@pytest.mark.parametrize(
    "table",
    [
        [],
        bands(None),
        bands(1, None),
        bands(Decimal("0.01"), 1, Decimal("1.01"), None),
        bands(None, rate=1),
        bands(None, rate=Decimal("1.00")),
        bands(*range(1, BANDS_MAX), None),
    ],
)
def test_an_ascending_table_with_an_open_last_band_is_valid(table: Any) -> None:
    assert check(table) == []


@pytest.mark.parametrize("table", [None, "x", 7, {"upto": None}, [1], [bands(None)], [None]])
def test_values_of_a_wrong_type_are_left_to_the_body_check(table: Any) -> None:
    assert check(table) == []


@pytest.mark.parametrize(
    ("table", "violations"),
    [
        (bands(1), [("usage_table[0].upto", "null in the last band")]),
        (bands(0, None), [("usage_table[0].upto", RISING)]),
        (bands(-1, None), [("usage_table[0].upto", RISING)]),
        (bands(2, 2, None), [("usage_table[1].upto", RISING)]),
        (bands(3, 2, 4, None), [("usage_table[1].upto", RISING)]),
        (bands(3, 2, 3, None), [("usage_table[1].upto", RISING), ("usage_table[2].upto", RISING)]),
        (bands(None, None), [("usage_table[0].upto", RISING)]),
        (bands("1", None), [("usage_table[0].upto", RISING)]),
        (bands(None, rate=Decimal("1.0000001")), [("usage_table[0].rate", "from 0 to 1")]),
        (bands(None, rate=Decimal("-0.0000001")), [("usage_table[0].rate", "from 0 to 1")]),
    ],
)
def test_an_invalid_table_is_refused(table: Any, violations: list[tuple[str, str]]) -> None:
    assert check(table) == violations


def test_the_number_of_bands_is_limited() -> None:
    assert check(bands(*range(1, BANDS_MAX + 1), None)) == [
        ("usage_table", f"at most {BANDS_MAX} bands")
    ]


@pytest.mark.parametrize("rate", ["0.1", None, []])
def test_a_rate_of_a_wrong_type_is_left_to_the_body_check(rate: Any) -> None:
    assert check(bands(None, rate=rate)) == []
