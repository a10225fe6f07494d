"""Recent failed attempts are counted per source."""

from __future__ import annotations

import time

import pytest

from nimbill.access.recent_attempts import RecentAttempts


def test_attempts_are_counted_per_source() -> None:
    attempts = RecentAttempts()
    for source in ("here", "there", "here"):
        attempts.add(source)

    assert [attempts.count(source) for source in ("here", "there", "elsewhere")] == [2, 1, 0]


def test_a_successful_attempt_is_cancelled() -> None:
    attempts = RecentAttempts()
    attempts.add("here")
    attempts.add("here")

    left = []
    for _ in range(3):
        attempts.cancel("here")
        left.append(attempts.count("here"))

    assert left == [1, 0, 0]


def test_attempts_expire_after_fifteen_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts, now = RecentAttempts(), 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    attempts.add("here")
    now += 15 * 60 - 1
    assert attempts.count("here") == 1

    now += 1

    assert attempts.count("here") == 0
    attempts.add("here")
    assert attempts.count("here") == 1


def test_only_the_latest_ten_thousand_sources_are_stored() -> None:
    attempts = RecentAttempts()
    attempts.add("regular")
    for number in range(9_999):
        attempts.add(f"source {number}")
    attempts.add("regular")

    attempts.add("one more")

    assert attempts.count("source 0") == 0
    assert [attempts.count(source) for source in ("source 1", "one more", "regular")] == [1, 1, 2]
