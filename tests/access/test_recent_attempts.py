"""How often a source has tried of late and not got in."""

from __future__ import annotations

import time

import pytest

from nimbill.access.recent_attempts import RecentAttempts


def test_each_try_counts_by_its_source() -> None:
    tries = RecentAttempts()
    for source in ("here", "there", "here"):
        tries.add(source)

    assert [tries.of(source) for source in ("here", "there", "elsewhere")] == [2, 1, 0]


def test_a_try_that_turned_out_well_is_taken_back() -> None:
    tries = RecentAttempts()
    tries.add("here")
    tries.add("here")

    left = []
    for _ in range(3):
        tries.forgive("here")
        left.append(tries.of("here"))

    assert left == [1, 0, 0]


def test_who_stays_away_for_fifteen_minutes_has_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tries, now = RecentAttempts(), 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    tries.add("here")
    now += 15 * 60 - 1
    assert tries.of("here") == 1

    now += 1

    assert tries.of("here") == 0
    tries.add("here")
    assert tries.of("here") == 1


def test_no_more_than_ten_thousand_sources_are_kept_the_latest() -> None:
    tries = RecentAttempts()
    tries.add("regular")
    for number in range(9_999):
        tries.add(f"source {number}")
    tries.add("regular")

    tries.add("one more")

    assert tries.of("source 0") == 0
    assert [tries.of(source) for source in ("source 1", "one more", "regular")] == [1, 1, 2]
