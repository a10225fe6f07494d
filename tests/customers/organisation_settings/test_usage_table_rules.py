"""The table of bands by itself: every way in which it can be unsound."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.customers.organisation_settings.usage_table_rules import (
    BANDS_MAX,
    usage_table_violations,
)

RISING = "more than in the band before"


def broken(bands: Any) -> list[tuple[str, str]]:
    return [tuple(violation) for violation in usage_table_violations(bands)]  # type: ignore[misc]


def bands(*ends: Any, rate: Any = 0) -> list[dict[str, Any]]:
    return [{"upto": end, "rate": rate} for end in ends]


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
def test_a_rising_table_with_an_open_end_stands(table: Any) -> None:
    assert broken(table) == []


@pytest.mark.parametrize("table", [None, "x", 7, {"upto": None}, [1], [bands(None)], [None]])
def test_what_is_no_list_of_bands_is_left_to_its_type(table: Any) -> None:
    assert broken(table) == []


@pytest.mark.parametrize(
    ("table", "complaints"),
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
def test_an_unsound_table_is_named(table: Any, complaints: list[tuple[str, str]]) -> None:
    assert broken(table) == complaints


def test_there_are_at_most_so_many_bands() -> None:
    assert broken(bands(*range(1, BANDS_MAX + 1), None)) == [
        ("usage_table", f"at most {BANDS_MAX} bands")
    ]


@pytest.mark.parametrize("rate", ["0.1", None, []])
def test_a_rate_that_is_no_number_is_left_to_its_type(rate: Any) -> None:
    assert broken(bands(None, rate=rate)) == []
