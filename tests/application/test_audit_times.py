"""Times of the audit log are parsed as dates or RFC 3339 timestamps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from nimbill.application.audit_routes import TIME_RULE, parse_end, parse_start
from nimbill.foundation.errors import Violation

ParseTime = Callable[[str, str | None, list[Violation]], datetime | None]

INVALID = [
    *("", "yesterday", "2025-13-01T00:00:00Z", "2025-02-30T00:00:00Z", "2025-02-30"),
    *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z"),
    *("2025-01-01T24:00:01Z", "2025-01-01T00:00:00+99:00", "NaN", "1e400", "9" * 400),
]


@pytest.mark.parametrize("parse", [parse_start, parse_end])
@pytest.mark.parametrize("text", INVALID)
def test_invalid_times_are_violations(parse: ParseTime, text: str) -> None:
    violations: list[Violation] = []

    assert parse("from", text, violations) is None
    assert violations == [Violation("from", TIME_RULE)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2025-03-04", datetime(2025, 3, 4, tzinfo=UTC), datetime(2025, 3, 5, tzinfo=UTC)),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC), None),
        ("2025-03-04T05:06:07", datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC), "the same"),
        ("2025-03-04T05:06:07Z", datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC), "the same"),
        ("2025-03-04T05:06:07+09:00", datetime(2025, 3, 3, 20, 6, 7, tzinfo=UTC), "the same"),
    ],
)
def test_a_date_is_a_day_in_utc_and_a_timestamp_a_moment(
    text: str, start: datetime, end: datetime | str | None
) -> None:
    violations: list[Violation] = []

    assert parse_start("from", text, violations) == start
    assert parse_end("to", text, violations) == (start if end == "the same" else end)
    assert violations == []


def test_an_absent_time_is_no_violation() -> None:
    violations: list[Violation] = []

    assert parse_start("from", None, violations) is None
    assert parse_end("to", None, violations) is None
    assert violations == []
