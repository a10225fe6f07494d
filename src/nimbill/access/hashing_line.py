"""Whose password is hashed next: a short line, fair between those who stand in it."""

import os
import sys
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from nimbill.basis import chosen
from nimbill.errors import TooMany

basis = chosen("login-throttle")


class Ring(Enum):
    """Who stands in the line; the rings have their turns one after the other."""

    known = "who logged in from there before"
    strangers = "anybody else, from an address or by a client that has not failed of late"
    suspects = "from or by one that has"
    changes = "a caller who gives somebody a new password"


# a hash takes some 70 ms: who logs in waits about a second at most, or is sent away
WAITING_MAX: Mapping[Ring, int] = {
    Ring.known: 8,
    Ring.strangers: 8,
    Ring.suspects: 4,
    Ring.changes: 8,
}
# those included who still ask the database: of a crowd few get as far as that. Who changes a
# password holds a connection meanwhile: so many that most of them are left to everybody else
UNDER_WAY_MAX: Mapping[Ring, int] = {
    Ring.known: 32,
    Ring.strangers: 32,
    Ring.suspects: 5,
    Ring.changes: 9,
}
NICENESS = 10  # of the thread that hashes: whatever is no hash goes first


@dataclass(eq=False, slots=True)
class Place:
    """Held from before the database is asked until the password is checked."""

    ring: Ring
    source: str
    waiting: Future[Any] = field(default_factory=Future)  # for a hash that has not begun
    work: Callable[[], Any] | None = None


class Line:
    """One hash at a time per process: logins starve nobody of memory or of cores.

    In a ring every source has its turn, however many of its logins wait. A full ring takes in a
    source of which fewer wait by sending away the last of the one of which most do.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = Counter[Ring]()
        self._waiting: dict[Ring, OrderedDict[str, deque[Place]]]
        self._waiting = {ring: OrderedDict() for ring in Ring}
        self._turns = deque(Ring)
        self._thread = ThreadPoolExecutor(1, "password", initializer=_step_back)

    @property
    def under_way(self) -> int:
        return self._under_way.total()

    @property
    def waiting(self) -> int:
        return sum(len(places) for ring in self._waiting.values() for places in ring.values())

    def refuse_if_full(self, ring: Ring, source: str) -> None:
        """What `place` would say now."""
        with self._lock:
            self._refuse_if_full(Place(ring, source))

    def _refuse_if_full(self, newcomer: Place) -> None:
        if self._under_way[newcomer.ring] >= UNDER_WAY_MAX[newcomer.ring]:
            raise crowded()
        self._whom_to_send_away(newcomer)

    @contextmanager
    def place(self, ring: Ring, source: str) -> Iterator[Place]:
        """TooMany where the ring is full and there is nobody to send away for this source."""
        mine = Place(ring, source)
        with self._lock:
            self._refuse_if_full(mine)
            self._under_way[ring] += 1
        try:
            yield mine
        finally:
            with self._lock:
                self._under_way[ring] -= 1
                self._leave(mine)

    def hash_in_turn(self, place: Place, work: Callable[[], Any]) -> Future[Any]:
        """What the work answers; TooMany when the place was given to somebody else."""
        place.waiting, place.work = Future(), work
        with self._lock:
            sent_away = self._whom_to_send_away(place)
            if sent_away is not None:
                self._leave(sent_away)
                with suppress(InvalidStateError):  # its client has hung up in this very moment
                    sent_away.waiting.set_exception(crowded())
            self._waiting[place.ring].setdefault(place.source, deque()).append(place)
        self._thread.submit(self._hash_next)
        return place.waiting

    def _whom_to_send_away(self, newcomer: Place) -> Place | None:
        """Nobody where there is room; TooMany where all have as few as the newcomer would."""
        waiting = self._waiting[newcomer.ring]
        if sum(len(places) for places in waiting.values()) < WAITING_MAX[newcomer.ring]:
            return None
        most = max(waiting.values(), key=len)
        if len(most) <= len(waiting.get(newcomer.source, ())) + 1:
            raise crowded()
        return most[-1]

    def _leave(self, place: Place) -> None:
        waiting = self._waiting[place.ring]
        if place in waiting.get(place.source, ()):
            waiting[place.source].remove(place)
            if not waiting[place.source]:
                del waiting[place.source]

    def _hash_next(self) -> None:
        """Whoever's turn it is; nobody's where those who waited have left."""
        with self._lock:
            place = self._next()
        if place is None or place.work is None:
            return
        if place.waiting.set_running_or_notify_cancel():
            try:
                place.waiting.set_result(place.work())
            except BaseException as error:  # noqa: BLE001  # whoever waits is told
                place.waiting.set_exception(error)

    def _next(self) -> Place | None:
        for _ in Ring:
            self._turns.rotate(-1)
            waiting = self._waiting[self._turns[-1]]
            if waiting:
                source, places = waiting.popitem(last=False)
                place = places.popleft()
                if places:
                    waiting[source] = places  # behind all others
                return place
        return None


def crowded() -> TooMany:
    return TooMany("logins_waiting", "too many logins at once", retry_after=1)


def _step_back() -> None:
    """Of Linux alone: there a thread has a priority of its own, and its id is no process's."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
