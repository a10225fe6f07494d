"""Dates as yyyy-mm-dd."""

from __future__ import annotations

import pytest

from nimbill.foundation.calendar_date import is_date


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-17", True),
        ("2024-02-29", True),
        ("2026-02-29", False),
        ("2026-13-01", False),
        ("0000-01-01", False),
        ("20261117", False),
        ("2026-W47-2", False),
        ("2026-11-17T00:00", False),
        ("２０２６-11-17", False),
        ("2026-11-17\n", False),
        ("", False),
    ],
)
def test_a_date_is_a_day_of_the_calendar(text: str, *, expected: bool) -> None:
    assert is_date(text) is expected
