"""Whose password is hashed next: few wait, each source has its turn, and hashing steps back."""

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
    NICENESS,
    STEP_BACK_SECONDS,
    UNDER_WAY_MAX,
    WAITING_MAX,
    PasswordHashQueue,
    QueuePlace,
    Ring,
    crowded,
)
from nimbill.access.passwords import hash_password, login_under_way, password_matches
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import TooMany
from tests.quick_hashes import quick_hashes

T = TypeVar("T")
ENCRYPTOR = Encryptor(b"k" * 32)


def run(do: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(do)


class Held:
    """A line whose one thread is busy until it is let go; notes whose turn came when."""

    def __init__(self) -> None:
        self.line = PasswordHashQueue()
        self.turns: list[str] = []
        self._go = threading.Event()
        self.places = ExitStack()
        first = self.places.enter_context(self.line.place(Ring.changes, "first"))
        holding = self.line.hash_in_turn(first, self._go.wait)
        while not holding.running():
            time.sleep(0.001)

    def wait(self, ring: Ring, source: str) -> QueuePlace:
        place = self.places.enter_context(self.line.place(ring, source))
        self.line.hash_in_turn(place, lambda: self.turns.append(source))
        return place

    def go(self) -> None:
        self._go.set()

    def let_go(self) -> list[str]:
        self.go()
        self.line._thread.submit(lambda: None).result(10)  # behind everybody else
        return self.turns


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    monkeypatch.setattr(password_hash_queue, "STEP_BACK_SECONDS", 0)
    made = Held()
    yield made
    made.let_go()
    made.places.close()
    assert made.line.under_way == 0
    assert made.line.waiting == 0


def sent_away(place: QueuePlace) -> bool:
    return place.waiting.done() and isinstance(place.waiting.exception(), TooMany)


def tried(held: Held, source: str, times: int) -> None:
    for _ in range(times):
        with held.line.place(Ring.strangers, source):
            pass


def test_so_many_may_log_in_at_once() -> None:
    waiting = {ring.name: count for ring, count in WAITING_MAX.items()}
    under_way = {ring.name: count for ring, count in UNDER_WAY_MAX.items()}

    assert waiting == {"known": 8, "strangers": 4, "changes": 8}
    assert under_way == {"known": 12, "strangers": 6, "changes": 9}


@pytest.mark.parametrize("ring", list(Ring))
def test_whoever_finds_a_ring_full_is_asked_to_come_back_in_a_second(
    held: Held, ring: Ring
) -> None:
    for number in range(WAITING_MAX[ring]):
        held.wait(ring, f"source {number}")
    busy = held.line.under_way

    with pytest.raises(TooMany) as refused, held.line.place(ring, "one more"):
        pass

    assert (refused.value.code, refused.value.retry_after) == ("logins_waiting", 1)
    for other in set(Ring) - {ring}:
        with held.line.place(other, "another"):
            assert held.line.under_way == busy + 1


@pytest.mark.parametrize("ring", list(Ring))
def test_no_more_than_so_many_are_under_way(ring: Ring) -> None:
    line = PasswordHashQueue()
    with ExitStack() as places:
        for number in range(UNDER_WAY_MAX[ring]):
            places.enter_context(line.place(ring, f"source {number}"))

        with pytest.raises(TooMany), line.place(ring, "one more"):
            pass
        with pytest.raises(TooMany):
            line.refuse_if_full(ring, "yet another")
    line.refuse_if_full(ring, "yet another")
    with line.place(ring, "another"):
        assert line.under_way == 1


def test_those_under_way_who_tried_before_do_not_count_for_who_did_not(held: Held) -> None:
    with ExitStack() as places:
        for number in range(UNDER_WAY_MAX[Ring.strangers]):
            tried(held, f"source {number}", 1)
            places.enter_context(held.line.place(Ring.strangers, f"source {number}"))

        tried(held, "newcomer", 1)
        with pytest.raises(TooMany):
            tried(held, "newcomer", 1)


def test_who_tried_least_of_late_goes_first_and_of_equals_who_came_first(held: Held) -> None:
    for source, times in (("often", 8), ("twice", 2), ("first", 0), ("second", 0)):
        tried(held, source, times)
        held.wait(Ring.strangers, source)

    assert held.let_go() == ["first", "second", "twice", "often"]


def test_every_source_has_its_turn_however_many_of_one_wait(held: Held) -> None:
    for source in ("many", "many", "many", "one"):
        held.wait(Ring.strangers, source)

    assert held.let_go() == ["many", "one", "many", "many"]


def test_a_newcomer_goes_before_two_hundred_addresses_that_come_back(held: Held) -> None:
    crowd = [f"address {number}" for number in range(200)]
    for source in crowd:
        tried(held, source, 1)
    for source in crowd:
        with suppress(TooMany):
            held.wait(Ring.strangers, source)

    held.wait(Ring.strangers, "newcomer")

    assert held.let_go()[0] == "newcomer"


def test_who_got_in_has_not_tried(held: Held) -> None:
    for number in range(3):
        with held.line.place(Ring.strangers, "office") as place:
            assert place.rank == 0
            assert held.line.has_failed("office"), number
            held.line.forgive(place)

    assert not held.line.has_failed("office")


def test_who_changes_a_password_has_not_tried_to_log_in(held: Held) -> None:
    held.wait(Ring.changes, "caller")

    assert not held.line.has_failed("caller")


def test_the_known_and_the_strangers_take_turns(held: Held) -> None:
    for number in range(4):
        held.wait(Ring.strangers, f"stranger {number}")
    for number in range(2):
        held.wait(Ring.known, f"known {number}")

    turns = held.let_go()

    assert turns.index("known 0") <= 1
    assert turns.index("known 1") <= 3
    assert len(turns) == 6


def test_a_full_ring_takes_in_who_tried_less(held: Held) -> None:
    waiting = []
    for source, times in (("a", 1), ("b", 8), ("c", 8), ("d", 1)):
        tried(held, source, times)
        waiting.append(held.wait(Ring.strangers, source))

    held.wait(Ring.strangers, "first time")

    assert [sent_away(place) for place in waiting] == [False, False, True, False]
    sent = waiting[2].waiting.exception()
    assert isinstance(sent, TooMany)
    assert sent.retry_after == 3
    assert held.let_go() == ["first time", "a", "d", "b"]


def test_who_tried_as_often_as_the_others_takes_nobodys_place(held: Held) -> None:
    for number in range(WAITING_MAX[Ring.strangers]):
        tried(held, f"source {number}", 1)
        held.wait(Ring.strangers, f"source {number}")

    tried(held, "another", 1)
    with pytest.raises(TooMany):
        held.wait(Ring.strangers, "another")


def test_who_comes_to_be_hashed_late_may_find_the_ring_full(held: Held) -> None:
    with held.line.place(Ring.strangers, "late") as late:
        for number in range(WAITING_MAX[Ring.strangers]):
            held.wait(Ring.strangers, f"source {number}")

        with pytest.raises(TooMany):
            held.line.hash_in_turn(late, lambda: held.turns.append("late"))

    assert "late" not in held.let_go()


def hashed_after(line: PasswordHashQueue, ranks: list[int]) -> list[float]:
    """Seconds until each was hashed; all of them come at once."""
    done: list[float] = []
    with ExitStack() as places:
        began = time.monotonic()
        waiting = []
        with line._lock:
            for number, rank in enumerate(ranks):
                place = places.enter_context(line.place(Ring.strangers, f"source {number}"))
                place.rank = rank
                work = lambda: done.append(time.monotonic() - began)  # noqa: E731
                waiting.append(line.hash_in_turn(place, work))
        for one in waiting:
            one.result(10)
    return done


def test_of_a_crowd_that_tried_before_each_leaves_the_thread_to_others_for_a_while() -> None:
    alone, fresh, crowd = ([4], [0, 0], [4, 4])

    assert hashed_after(PasswordHashQueue(), alone)[0] < 0.3
    assert hashed_after(PasswordHashQueue(), fresh)[1] < 0.3
    assert hashed_after(PasswordHashQueue(), crowd)[0] >= 4 * STEP_BACK_SECONDS


def test_who_comes_for_the_first_time_does_not_wait_while_others_step_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(password_hash_queue, "STEP_BACK_SECONDS", 60)
    held = Held()
    for source, rank in (("crowd", 4), ("crowd", 4), ("first time", 0)):
        place = held.wait(Ring.strangers, source)
        place.rank = rank

    held.go()

    place.waiting.result(10)
    assert held.turns == ["first time"]
    held.wait(Ring.known, "known").waiting.result(10)
    assert held.turns == ["first time", "known"]
    held.places.close()
    held.line._thread.submit(int).result(10)  # nobody waits: the thread is free


def test_who_leaves_is_not_hashed(held: Held) -> None:
    line = held.line
    with line.place(Ring.known, "gone") as place:
        line.hash_in_turn(place, lambda: held.turns.append("gone"))
    held.wait(Ring.known, "stays")

    assert held.let_go() == ["stays"]


def test_what_goes_wrong_in_a_hash_is_told() -> None:
    line = PasswordHashQueue()

    def broken() -> None:
        raise ValueError("no hash")

    with line.place(Ring.known, "one") as place, pytest.raises(ValueError, match="no hash"):
        line.hash_in_turn(place, broken).result(10)


def test_one_hash_at_a_time_and_never_in_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    hashing: set[str] = set()
    at_once: list[int] = []
    under_way = 0

    def noted(_hash: str | None, _peppered: bytes) -> bool:
        nonlocal under_way
        under_way += 1
        hashing.add(threading.current_thread().name)
        at_once.append(under_way)
        time.sleep(0.01)
        under_way -= 1
        return False

    async def many() -> None:
        await asyncio.gather(*[password_matches("x", None, ENCRYPTOR) for _ in range(8)])

    monkeypatch.setattr(passwords, "_verify", noted)
    run(many())

    assert max(at_once) == 1
    assert all(name.startswith("password") for name in hashing)


def test_the_thread_that_hashes_lets_everything_else_go_first() -> None:
    line = PasswordHashQueue()

    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    with line.place(Ring.known, "one") as place:
        hashing = line.hash_in_turn(place, niceness).result(10)

    assert hashing == max(NICENESS, niceness())
    assert os.getpriority(os.PRIO_PROCESS, os.getpid()) < NICENESS


def test_who_gives_up_leaves_the_line() -> None:
    async def give_up() -> list[Any]:
        with quick_hashes():
            count = WAITING_MAX[Ring.changes]
            tasks = [asyncio.create_task(hash_password("x", ENCRYPTOR)) for _ in range(count)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            again = [hash_password("x", ENCRYPTOR) for _ in range(count)]
            return await asyncio.gather(*again, return_exceptions=True)

    assert {type(answer) for answer in run(give_up())} == {str}
    assert passwords._line.under_way == 0


def test_a_login_holds_one_place_for_all_it_hashes() -> None:
    async def twice() -> tuple[bool, str]:
        with login_under_way(Ring.strangers, "here") as place:
            matches = await password_matches("x", None, ENCRYPTOR, place)
            hashed = await hash_password("x", ENCRYPTOR, place)
            assert passwords._line.under_way == 1
            return matches, hashed

    with quick_hashes():
        matches, hashed = run(twice())

    assert not matches
    assert hashed.startswith("$argon2id$")


def test_the_refusal_says_nothing_of_who_waits() -> None:
    assert crowded().detail == "too many logins at once"
