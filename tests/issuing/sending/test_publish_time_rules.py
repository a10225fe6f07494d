"""The time from which customers see a sent invoice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from nimbill.issuing.sending.publish_time_rules import (
    find_publish_time_violations,
    parse_publish_time,
)

NOW = datetime(2026, 10, 1, tzinfo=UTC)


def find(sent: Any) -> list[str]:
    return [violation.rule for violation in find_publish_time_violations(sent, NOW)]


@pytest.mark.parametrize(
    "sent", ["2026-10-05T09:00:00+09:00", "2020-01-01T00:00:00Z", "2027-10-02T00:00:00Z"]
)
def test_a_time_with_an_offset_is_accepted(sent: str) -> None:
    assert find(sent) == []


@pytest.mark.parametrize(
    "sent",
    [7, None, "", "tomorrow", "2026-10-05", "2026-10-05T09:00:00", "0001-01-01T00:00:00+14:00"],
)
def test_anything_else_is_refused(sent: Any) -> None:
    assert find(sent) == ["an RFC 3339 timestamp with an offset"]


def test_a_time_more_than_a_year_away_is_refused() -> None:
    assert find("2027-10-02T00:00:01Z") == ["at most 366 days from now"]


def test_the_time_is_converted_to_utc() -> None:
    assert parse_publish_time("2026-10-05T09:00:00+09:00") == datetime(2026, 10, 5, tzinfo=UTC)
