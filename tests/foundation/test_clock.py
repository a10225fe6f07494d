"""The date of a time depends on where it is asked."""

from datetime import UTC, date, datetime

import pytest

from nimbill.foundation.clock import local_date

NEW_YEARS_EVE = datetime(2026, 12, 31, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time_zone", "expected"),
    [
        ("Asia/Tokyo", date(2027, 1, 1)),
        ("UTC", date(2026, 12, 31)),
        ("Pacific/Honolulu", date(2026, 12, 31)),
    ],
)
def test_the_date_is_that_of_the_time_zone(time_zone: str, expected: date) -> None:
    assert local_date(NEW_YEARS_EVE, time_zone) == expected
