"""Months: what is one, when it begins and ends, and what bodies and paths say to anything else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any, ClassVar

import pytest

from nimbill.foundation.basis import Basis, stated
from nimbill.foundation.calendar_month import Month, first_moment, is_month, last_moment, month_of
from nimbill.foundation.errors import Invalid
from nimbill.http.request_bodies import Body, sound

NO_MONTHS = [
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
def test_a_year_and_a_month_are_a_month(month: str) -> None:
    assert is_month(month)
    assert month_of(first_moment(month)) == month
    assert month_of(last_moment(month)) == month


@pytest.mark.parametrize("text", NO_MONTHS)
def test_anything_else_is_none(text: str) -> None:
    assert not is_month(text)
    with pytest.raises(ValueError, match="yyyy-mm"):
        first_moment(text)


@pytest.mark.parametrize(
    ("month", "days"), [("2026-01", 31), ("2026-02", 28), ("2028-02", 29), ("2026-04", 30)]
)
def test_it_begins_with_its_first_moment_and_ends_with_its_last(month: str, days: int) -> None:
    first, last = first_moment(month), last_moment(month)

    assert (first.day, first.hour, first.tzinfo) == (1, 0, UTC)
    assert last - first == timedelta(days=days) - timedelta(microseconds=1)


def test_the_month_of_a_moment_is_taken_in_utc() -> None:
    in_tokyo = datetime(2026, 2, 1, 8, 59, tzinfo=timezone(timedelta(hours=9)))

    assert month_of(in_tokyo) == "2026-01"


class OfAMonth(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Conventions")

    month: Month


@pytest.mark.parametrize("sent", [*NO_MONTHS, 202601, True, ["2026-01"]])
def test_a_body_that_holds_no_month_is_told_the_rule(sent: Any) -> None:
    with pytest.raises(Invalid) as refused:
        sound(OfAMonth, {"month": sent})

    assert refused.value.violations == (("month", "a month as yyyy-mm"),)


def test_a_body_that_holds_one_is_sound() -> None:
    assert sound(OfAMonth, {"month": "2026-12"}).month == "2026-12"
