"""The password hash queue: order, limits, fairness and priority."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

import pytest

from nimbill.access import password_hash_queue, passwords
from nimbill.access.password_hash_queue import (
    ACTIVE_MAX,
    BACKOFF_SECONDS,
    NICENESS,
    WAITING_MAX,
    PasswordHashQueue,
    QueueEntry,
    QueueLane,
    create_attempts,
    too_many_logins,
)
from nimbill.access.passwords import enter_login_queue, hash_password, password_matches
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import TooManyRequests
from tests.quick_hashes import quick_hashes

T = TypeVar("T")
ENCRYPTOR = Encryptor(b"k" * 32)
SECONDS_MAX = 60  # hashing has a low priority, so a busy machine delays it


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


class BusyQueue:
    """A queue whose thread is busy until `release`; records the order of the hashes."""

    def __init__(self) -> None:
        self.queue = PasswordHashQueue(create_attempts())
        self.turns: list[str] = []
        self._released = threading.Event()
        self.entries = ExitStack()
        first = self.entries.enter_context(self.queue.enter(QueueLane.password_change, "first"))
        holding = self.queue.submit(first, self._released.wait)
        while not holding.running():
            time.sleep(0.001)

    def submit(self, lane: QueueLane, source: str) -> QueueEntry:
        entry = self.entries.enter_context(self.queue.enter(lane, source))
        self.queue.submit(entry, lambda: self.turns.append(source))
        return entry

    def release(self) -> None:
        self._released.set()

    def release_and_wait(self) -> list[str]:
        self.release()
        self.queue._thread.submit(lambda: None).result(SECONDS_MAX)  # after all others
        return self.turns


@pytest.fixture
def busy_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[BusyQueue]:
    monkeypatch.setattr(password_hash_queue, "BACKOFF_SECONDS", 0)
    busy_queue = BusyQueue()
    yield busy_queue
    busy_queue.release_and_wait()
    busy_queue.entries.close()
    assert busy_queue.queue.active == 0
    assert busy_queue.queue.waiting == 0


def was_dropped(entry: QueueEntry) -> bool:
    return entry.result.done() and isinstance(entry.result.exception(), TooManyRequests)


def fail_attempts(busy_queue: BusyQueue, source: str, times: int) -> None:
    for _ in range(times):
        with busy_queue.queue.enter(QueueLane.unknown_source, source):
            pass


def test_the_limits_of_each_lane() -> None:
    waiting = {lane.name: count for lane, count in WAITING_MAX.items()}
    active = {lane.name: count for lane, count in ACTIVE_MAX.items()}

    assert waiting == {"known_source": 8, "unknown_source": 4, "password_change": 8}
    assert active == {"known_source": 12, "unknown_source": 6, "password_change": 9}


@pytest.mark.parametrize("lane", list(QueueLane))
def test_a_full_lane_refuses_with_retry_after_one_second(
    busy_queue: BusyQueue, lane: QueueLane
) -> None:
    for number in range(WAITING_MAX[lane]):
        busy_queue.submit(lane, f"source {number}")
    active = busy_queue.queue.active

    with pytest.raises(TooManyRequests) as refusal, busy_queue.queue.enter(lane, "one more"):
        pass

    assert (refusal.value.code, refusal.value.retry_after) == ("logins_waiting", 1)
    for other in set(QueueLane) - {lane}:
        with busy_queue.queue.enter(other, "another"):
            assert busy_queue.queue.active == active + 1


@pytest.mark.parametrize("lane", list(QueueLane))
def test_the_number_of_active_entries_is_limited(lane: QueueLane) -> None:
    queue = PasswordHashQueue(create_attempts())
    with ExitStack() as entries:
        for number in range(ACTIVE_MAX[lane]):
            entries.enter_context(queue.enter(lane, f"source {number}"))

        with pytest.raises(TooManyRequests), queue.enter(lane, "one more"):
            pass
        with pytest.raises(TooManyRequests):
            queue.refuse_if_full(lane, "yet another")
    queue.refuse_if_full(lane, "yet another")
    with queue.enter(lane, "another"):
        assert queue.active == 1


def test_active_entries_of_failed_sources_do_not_block_new_ones(busy_queue: BusyQueue) -> None:
    with ExitStack() as entries:
        for number in range(ACTIVE_MAX[QueueLane.unknown_source]):
            fail_attempts(busy_queue, f"source {number}", 1)
            entries.enter_context(
                busy_queue.queue.enter(QueueLane.unknown_source, f"source {number}")
            )

        fail_attempts(busy_queue, "newcomer", 1)
        with pytest.raises(TooManyRequests):
            fail_attempts(busy_queue, "newcomer", 1)


def test_the_source_with_the_fewest_attempts_goes_first(busy_queue: BusyQueue) -> None:
    for source, times in (("often", 8), ("twice", 2), ("first", 0), ("second", 0)):
        fail_attempts(busy_queue, source, times)
        busy_queue.submit(QueueLane.unknown_source, source)

    assert busy_queue.release_and_wait() == ["first", "second", "twice", "often"]


def test_many_entries_of_one_source_do_not_delay_others(busy_queue: BusyQueue) -> None:
    for source in ("many", "many", "many", "one"):
        busy_queue.submit(QueueLane.unknown_source, source)

    assert busy_queue.release_and_wait() == ["many", "one", "many", "many"]


def test_a_new_source_goes_before_two_hundred_returning_ones(busy_queue: BusyQueue) -> None:
    crowd = [f"address {number}" for number in range(200)]
    for source in crowd:
        fail_attempts(busy_queue, source, 1)
    for source in crowd:
        with suppress(TooManyRequests):
            busy_queue.submit(QueueLane.unknown_source, source)

    busy_queue.submit(QueueLane.unknown_source, "newcomer")

    assert busy_queue.release_and_wait()[0] == "newcomer"


def test_a_successful_login_does_not_count_as_an_attempt(busy_queue: BusyQueue) -> None:
    for number in range(3):
        with busy_queue.queue.enter(QueueLane.unknown_source, "office") as entry:
            assert entry.rank == 0
            assert busy_queue.queue.has_failed("office"), number
            busy_queue.queue.cancel_attempt(entry)

    assert not busy_queue.queue.has_failed("office")


def test_a_password_change_does_not_count_as_an_attempt(busy_queue: BusyQueue) -> None:
    busy_queue.submit(QueueLane.password_change, "caller")

    assert not busy_queue.queue.has_failed("caller")


def test_lanes_take_turns(busy_queue: BusyQueue) -> None:
    for number in range(4):
        busy_queue.submit(QueueLane.unknown_source, f"stranger {number}")
    for number in range(2):
        busy_queue.submit(QueueLane.known_source, f"known {number}")

    turns = busy_queue.release_and_wait()

    assert turns.index("known 0") <= 1
    assert turns.index("known 1") <= 3
    assert len(turns) == 6


def test_a_full_lane_accepts_a_source_with_fewer_attempts(busy_queue: BusyQueue) -> None:
    waiting = []
    for source, times in (("a", 1), ("b", 8), ("c", 8), ("d", 1)):
        fail_attempts(busy_queue, source, times)
        waiting.append(busy_queue.submit(QueueLane.unknown_source, source))

    busy_queue.submit(QueueLane.unknown_source, "first time")

    assert [was_dropped(entry) for entry in waiting] == [False, False, True, False]
    error = waiting[2].result.exception()
    assert isinstance(error, TooManyRequests)
    assert error.retry_after == 3
    assert busy_queue.release_and_wait() == ["first time", "a", "d", "b"]


def test_a_full_lane_refuses_a_source_with_equal_attempts(busy_queue: BusyQueue) -> None:
    for number in range(WAITING_MAX[QueueLane.unknown_source]):
        fail_attempts(busy_queue, f"source {number}", 1)
        busy_queue.submit(QueueLane.unknown_source, f"source {number}")

    fail_attempts(busy_queue, "another", 1)
    with pytest.raises(TooManyRequests):
        busy_queue.submit(QueueLane.unknown_source, "another")


def test_a_late_submission_is_refused_if_the_lane_is_full(busy_queue: BusyQueue) -> None:
    with busy_queue.queue.enter(QueueLane.unknown_source, "late") as late:
        for number in range(WAITING_MAX[QueueLane.unknown_source]):
            busy_queue.submit(QueueLane.unknown_source, f"source {number}")

        with pytest.raises(TooManyRequests):
            busy_queue.queue.submit(late, lambda: busy_queue.turns.append("late"))

    assert "late" not in busy_queue.release_and_wait()


def record_pauses(monkeypatch: pytest.MonkeyPatch, ranks: list[int]) -> list[float]:
    """Return the seconds that the thread would pause before each hash, without pausing.

    One entry for each rank is submitted, all of them together.
    """
    queue, pauses = PasswordHashQueue(create_attempts()), []
    with ExitStack() as entries:
        waiting = []
        monkeypatch.setattr(queue._lock, "wait_for", lambda _, seconds: pauses.append(seconds))
        with queue._lock:
            for number, rank in enumerate(ranks):
                entry = entries.enter_context(
                    queue.enter(QueueLane.unknown_source, f"source {number}")
                )
                entry.rank = rank
                waiting.append(queue.submit(entry, int))
        for result in waiting:
            result.result(SECONDS_MAX)
    return pauses


@pytest.mark.parametrize(
    ("ranks", "pauses"),
    [([4], []), ([0, 0], [0]), ([4, 4], [4 * BACKOFF_SECONDS]), ([4, 1], [BACKOFF_SECONDS])],
    ids=["alone", "first time", "failed often", "one failed less"],
)
def test_the_thread_pauses_if_all_waiting_sources_have_failed(
    monkeypatch: pytest.MonkeyPatch, ranks: list[int], pauses: list[float]
) -> None:
    assert record_pauses(monkeypatch, ranks) == pauses


def test_a_new_source_ends_the_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(password_hash_queue, "BACKOFF_SECONDS", 10 * SECONDS_MAX)
    busy_queue = BusyQueue()
    for source, rank in (("crowd", 4), ("crowd", 4), ("first time", 0)):
        entry = busy_queue.submit(QueueLane.unknown_source, source)
        entry.rank = rank

    busy_queue.release()

    entry.result.result(SECONDS_MAX)
    assert busy_queue.turns == ["first time"]
    busy_queue.submit(QueueLane.known_source, "known").result.result(SECONDS_MAX)
    assert busy_queue.turns == ["first time", "known"]
    busy_queue.entries.close()
    busy_queue.queue._thread.submit(int).result(
        SECONDS_MAX
    )  # nothing is waiting: the thread is free


def test_an_entry_that_left_is_not_hashed(busy_queue: BusyQueue) -> None:
    queue = busy_queue.queue
    with queue.enter(QueueLane.known_source, "gone") as entry:
        queue.submit(entry, lambda: busy_queue.turns.append("gone"))
    busy_queue.submit(QueueLane.known_source, "stays")

    assert busy_queue.release_and_wait() == ["stays"]


def test_an_error_during_hashing_is_raised() -> None:
    queue = PasswordHashQueue(create_attempts())

    def fail() -> None:
        raise ValueError("no hash")

    with (
        queue.enter(QueueLane.known_source, "one") as entry,
        pytest.raises(ValueError, match="no hash"),
    ):
        queue.submit(entry, fail).result(SECONDS_MAX)


def test_hashes_run_one_at_a_time_outside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    hashing: set[str] = set()
    concurrent: list[int] = []
    active = 0

    def verify(_hash: str | None, _peppered: bytes) -> bool:
        nonlocal active
        active += 1
        hashing.add(threading.current_thread().name)
        concurrent.append(active)
        time.sleep(0.01)
        active -= 1
        return False

    async def verify_many() -> None:
        await asyncio.gather(*[password_matches("x", None, ENCRYPTOR) for _ in range(8)])

    monkeypatch.setattr(passwords, "_verify", verify)
    run(verify_many())

    assert max(concurrent) == 1
    assert all(name.startswith("password") for name in hashing)


def test_the_hashing_thread_has_low_priority() -> None:
    queue = PasswordHashQueue(create_attempts())

    def read_niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    own = read_niceness()
    with queue.enter(QueueLane.known_source, "one") as entry:
        hashing = queue.submit(entry, read_niceness).result(SECONDS_MAX)

    assert hashing == max(NICENESS, own)
    assert read_niceness() == own, "other threads keep their priority"


def test_a_cancelled_request_leaves_the_queue() -> None:
    async def cancel_and_retry() -> list[Any]:
        with quick_hashes():
            count = WAITING_MAX[QueueLane.password_change]
            tasks = [asyncio.create_task(hash_password("x", ENCRYPTOR)) for _ in range(count)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            retries = [hash_password("x", ENCRYPTOR) for _ in range(count)]
            return await asyncio.gather(*retries, return_exceptions=True)

    assert {type(result) for result in run(cancel_and_retry())} == {str}
    assert passwords._queue.active == 0


def test_a_login_uses_one_entry_for_all_its_hashes() -> None:
    async def hash_twice() -> tuple[bool, str]:
        with enter_login_queue(QueueLane.unknown_source, "here") as entry:
            matches = await password_matches("x", None, ENCRYPTOR, entry)
            hashed = await hash_password("x", ENCRYPTOR, entry)
            assert passwords._queue.active == 1
            return matches, hashed

    with quick_hashes():
        matches, hashed = run(hash_twice())

    assert not matches
    assert hashed.startswith("$argon2id$")


def test_the_error_does_not_mention_who_waits() -> None:
    assert too_many_logins().detail == "Too many logins are waiting. Try again later."


def test_a_turn_after_the_last_entry_left_does_nothing() -> None:
    queue = PasswordHashQueue(create_attempts())

    queue._hash_next()

    assert queue.waiting == 0


@pytest.mark.parametrize(("rank", "seconds"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)])
def test_sources_that_failed_more_often_wait_longer(rank: int, seconds: int) -> None:
    assert too_many_logins(rank).retry_after == seconds
