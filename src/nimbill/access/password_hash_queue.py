"""Whose password is hashed next: a short line, in which those go first who tried least of late."""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from nimbill.access.password_hash_cores import core_to_hash_on
from nimbill.access.recent_attempts import RecentAttempts
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import TooMany

basis = chosen("login-throttle")


class Ring(Enum):
    """Who stands in the line; the rings have their turns one after the other."""

    known = "who logged in from there before"
    strangers = "anybody else who logs in"
    changes = "a caller who gives somebody a new password"


# a hash takes some 50 ms: who logs in waits about a second at most, or is sent away
WAITING_MAX: Mapping[Ring, int] = {Ring.known: 8, Ring.strangers: 4, Ring.changes: 8}
# those included who still ask the database: of a crowd few get as far as that. Who changes a
# password holds a connection meanwhile: so many that most of them are left to everybody else
UNDER_WAY_MAX: Mapping[Ring, int] = {Ring.known: 12, Ring.strangers: 6, Ring.changes: 9}
RANK_MAX = 4  # of who tried eight times or more
STEP_BACK_SECONDS = 0.1  # for each rank: so long the thread waits for somebody who goes first
NICENESS = 10  # of the thread that hashes: whatever is no hash goes first


@dataclass(eq=False, slots=True)
class QueuePlace:
    """Held from before the database is asked until the password is checked."""

    ring: Ring
    source: str
    rank: int  # 0 goes first
    waiting: Future[Any] = field(default_factory=Future)  # for a hash that has not begun
    work: Callable[[], Any] | None = None


class PasswordHashQueue:
    """One hash at a time per process: logins starve nobody of memory or of cores.

    In a ring those go first whose source has tried least of late without success, whether it was
    refused or sent away, and among equals who came first. A full ring takes in somebody who tried
    less by sending away the last of those who tried most; it never sends away an equal. Where all
    who wait have tried before, the thread pauses, so that a flood does not keep it busy.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._tries = RecentAttempts()
        self._under_way: list[tuple[Ring, QueuePlace]] = []  # the ring in which it began
        self._waiting: dict[Ring, list[QueuePlace]] = {ring: [] for ring in Ring}
        self._turns = deque(Ring)
        self._thread = ThreadPoolExecutor(1, "password", initializer=_step_back)

    @property
    def under_way(self) -> int:
        return len(self._under_way)

    @property
    def waiting(self) -> int:
        return sum(len(places) for places in self._waiting.values())

    def refuse_if_full(self, ring: Ring, source: str) -> None:
        """What `place` would say now."""
        with self._lock:
            self._refuse_if_full(self._newcomer(ring, source))

    def _newcomer(self, ring: Ring, source: str) -> QueuePlace:
        return QueuePlace(ring, source, min(self._tries.of(source).bit_length(), RANK_MAX))

    def _refuse_if_full(self, newcomer: QueuePlace) -> None:
        before = [
            place
            for ring, place in self._under_way
            if ring is newcomer.ring and place.rank <= newcomer.rank
        ]
        if len(before) >= UNDER_WAY_MAX[newcomer.ring]:
            raise crowded(newcomer.rank)
        self._whom_to_send_away(newcomer)

    @contextmanager
    def place(self, ring: Ring, source: str) -> Iterator[QueuePlace]:
        """A try, unless it is forgiven; TooMany where the ring is full of who tried no more."""
        with self._lock:
            mine = self._newcomer(ring, source)
            if ring is not Ring.changes:
                self._tries.add(source)
            self._refuse_if_full(mine)
            self._under_way.append((ring, mine))
        try:
            yield mine
        finally:
            with self._lock:
                self._under_way.remove((ring, mine))
                self._leave(mine)

    def has_failed(self, source: str) -> bool:
        """Of late, or one of its logins is under way."""
        with self._lock:
            return self._tries.of(source) > 0

    def forgive(self, place: QueuePlace) -> None:
        """It was the right password."""
        with self._lock:
            self._tries.forgive(place.source)

    def hash_in_turn(self, place: QueuePlace, work: Callable[[], Any]) -> Future[Any]:
        """What the work answers; TooMany when the place was given to somebody else."""
        place.waiting, place.work = Future(), work
        with self._lock:
            sent_away = self._whom_to_send_away(place)
            if sent_away is not None:
                self._leave(sent_away)
                with suppress(InvalidStateError):  # its client has hung up in this very moment
                    sent_away.waiting.set_exception(crowded(sent_away.rank))
            self._waiting[place.ring].append(place)
            self._lock.notify()
        self._thread.submit(self._hash_next)
        return place.waiting

    def _whom_to_send_away(self, newcomer: QueuePlace) -> QueuePlace | None:
        """Nobody where there is room; TooMany where nobody has tried more than the newcomer."""
        waiting = self._waiting[newcomer.ring]
        if len(waiting) < WAITING_MAX[newcomer.ring]:
            return None
        last = max(reversed(waiting), key=_rank)
        if last.rank <= newcomer.rank:
            raise crowded(newcomer.rank)
        return last

    def _leave(self, place: QueuePlace) -> None:
        with suppress(ValueError):  # it is not waiting any more
            self._waiting[place.ring].remove(place)
            self._lock.notify()

    def _hash_next(self) -> None:
        """Whoever's turn it is; nobody's where those who waited have left."""
        with self._lock:
            ranks = [place.rank for place in self._waiting[Ring.strangers]]
            if len(ranks) > 1:
                self._lock.wait_for(self._somebody_goes_first, min(ranks) * STEP_BACK_SECONDS)
        with core_to_hash_on():  # only then is it seen who goes first
            with self._lock:
                place = self._next()
            if place is None or place.work is None:
                return
            if place.waiting.set_running_or_notify_cancel():
                try:
                    place.waiting.set_result(place.work())
                except BaseException as error:  # noqa: BLE001  # whoever waits is told
                    place.waiting.set_exception(error)

    def _somebody_goes_first(self) -> bool:
        """Or nobody waits at all; otherwise all who do have tried before."""
        tried = [place for place in self._waiting[Ring.strangers] if place.rank]
        return len(tried) < self.waiting or not tried

    def _next(self) -> QueuePlace | None:
        for _ in Ring:
            self._turns.rotate(-1)
            waiting = self._waiting[self._turns[-1]]
            if waiting:
                place = min(waiting, key=_rank)
                waiting.remove(place)
                return place
        return None


def _rank(place: QueuePlace) -> int:
    return place.rank


def crowded(rank: int = 0) -> TooMany:
    """Who has come back often is asked to come back later."""
    return TooMany("logins_waiting", "too many logins at once", retry_after=1 + rank // 2)


def _step_back() -> None:
    """Of Linux alone: there a thread has a priority of its own, and its id is no process's."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
