"""Calendar months: their format, start and end, and the refusal of other texts in bodies."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any, ClassVar

import pytest

from nimbill.foundation.basis import Basis, stated
from nimbill.foundation.calendar_month import (
    CalendarMonth,
    is_month,
    month_end,
    month_start,
)
from nimbill.foundation.errors import Invalid
from nimbill.http.request_bodies import Body, parse_body

INVALID_MONTHS = [
    *("", "2026", "2026-1", "2026-00", "2026-13", "0000-01", "20266-1", "2026-011", "2026/01"),
    *(
        "2026-01\n",
        "\n2026-01",
        " 2026-01",
        "2026-01 ",
        "2026-0１",
        "２０２６-01",
        "-026-01",
        "26-01-01",
    ),
]


@pytest.mark.parametrize("month", ["0001-01", "1999-12", "2026-01", "2026-10", "9999-12"])
def test_yyyy_mm_is_a_month(month: str) -> None:
    year_and_month = (int(month[:4]), int(month[5:]))

    assert is_month(month)
    for time in (month_start(month), month_end(month)):
        assert (time.year, time.month) == year_and_month


@pytest.mark.parametrize("text", INVALID_MONTHS)
def test_other_texts_are_refused(text: str) -> None:
    assert not is_month(text)
    with pytest.raises(ValueError, match="yyyy-mm"):
        month_start(text)


@pytest.mark.parametrize(
    ("month", "days"), [("2026-01", 31), ("2026-02", 28), ("2028-02", 29), ("2026-04", 30)]
)
def test_a_month_lasts_from_its_first_to_its_last_microsecond(month: str, days: int) -> None:
    start, end = month_start(month), month_end(month)

    assert (start.day, start.hour, start.tzinfo) == (1, 0, UTC)
    assert end - start == timedelta(days=days) - timedelta(microseconds=1)


class BodyWithMonth(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Conventions")

    month: CalendarMonth


@pytest.mark.parametrize("sent", [*INVALID_MONTHS, 202601, True, ["2026-01"]])
def test_an_invalid_month_in_a_body_violates_the_rule(sent: Any) -> None:
    with pytest.raises(Invalid) as refused:
        parse_body(BodyWithMonth, {"month": sent})

    assert refused.value.violations == (("month", "a month as yyyy-mm"),)


def test_a_valid_month_in_a_body_is_accepted() -> None:
    assert parse_body(BodyWithMonth, {"month": "2026-12"}).month == "2026-12"
