"""Pauses between attempts grow, and the last attempt is about three days after the first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from nimbill.webhooks.retry_rules import ATTEMPTS_MAX, PAUSES, find_next_attempt

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def test_pauses_grow_over_about_three_days() -> None:
    assert ATTEMPTS_MAX == 10
    assert list(PAUSES) == sorted(set(PAUSES))
    assert timedelta(days=2.8) < sum(PAUSES, timedelta()) < timedelta(days=3.2)


def test_each_attempt_is_followed_by_its_pause() -> None:
    assert find_next_attempt(1, NOW) == NOW + timedelta(seconds=5)
    assert find_next_attempt(2, NOW) == NOW + timedelta(minutes=5)
    assert find_next_attempt(ATTEMPTS_MAX - 1, NOW) == NOW + timedelta(hours=22)


def test_the_last_attempt_is_followed_by_none() -> None:
    assert find_next_attempt(ATTEMPTS_MAX, NOW) is None
    assert find_next_attempt(ATTEMPTS_MAX + 1, NOW) is None
