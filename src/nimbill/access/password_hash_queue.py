"""A short queue for password hashing: the sources with the fewest failed attempts go first."""

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

from nimbill.access.password_hash_cores import hashing_core
from nimbill.access.shared_rate_limit import SharedRateLimit
from nimbill.foundation.errors import TooManyRequests

# See docs/choices.md, login-throttle.


class QueueLane(Enum):
    """Lanes of the queue; they are served in turn."""

    known_source = "login from a source that has logged in before"
    unknown_source = "any other login"
    password_change = "caller who sets a password"  # noqa: S105  # not a password


# A hash takes about 50 ms, so a login waits for about one second at most or is refused.
WAITING_MAX: Mapping[QueueLane, int] = {
    QueueLane.known_source: 8,
    QueueLane.unknown_source: 4,
    QueueLane.password_change: 8,
}
# Active entries also include those that query the database, so that few of a flood get that far.
# A password change holds a connection; its limit leaves most connections to other requests.
ACTIVE_MAX: Mapping[QueueLane, int] = {
    QueueLane.known_source: 12,
    QueueLane.unknown_source: 6,
    QueueLane.password_change: 9,
}
ATTEMPTS_MAX = 8  # failed attempts that make a difference
ATTEMPTS_WINDOW_NS = 15 * 60 * 10**9
BACKOFF_SECONDS = 0.1  # per rank: how long the thread waits for an entry of rank 0
NICENESS = 10  # of the hashing thread, so that other work goes first


@dataclass(eq=False, slots=True)
class QueueEntry:
    """One login or password change, from before its first query until the password is checked."""

    lane: QueueLane
    source: str
    rank: int  # 0 goes first
    result: Future[Any] = field(default_factory=Future)  # of the hash
    work: Callable[[], Any] | None = None


def create_attempts() -> SharedRateLimit:
    """Attempts by source; workers that are forked later count together."""
    return SharedRateLimit(None, ATTEMPTS_MAX, ATTEMPTS_WINDOW_NS)


class PasswordHashQueue:
    """One hash at a time per process, so that logins never use up memory or cores.

    Within a lane the source with the fewest recent failed attempts goes first, then first come,
    first served. A full lane accepts an entry of a lower rank by dropping the last entry of the
    highest rank, and never drops an equal one. If all waiting sources have failed before, the
    thread pauses, so that a flood does not keep it busy.
    """

    def __init__(self, attempts: SharedRateLimit) -> None:
        self._lock = threading.Condition()
        self.attempts = attempts
        self._active: list[tuple[QueueLane, QueueEntry]] = []  # with the lane of its start
        self._waiting: dict[QueueLane, list[QueueEntry]] = {lane: [] for lane in QueueLane}
        self._lane_order = deque(QueueLane)
        self._thread = ThreadPoolExecutor(1, "password", initializer=_lower_thread_priority)

    @property
    def active(self) -> int:
        return len(self._active)

    @property
    def waiting(self) -> int:
        return sum(len(entries) for entries in self._waiting.values())

    def refuse_if_full(self, lane: QueueLane, source: str) -> None:
        """Raise TooManyRequests if `enter` would."""
        with self._lock:
            self._refuse_if_full(self._build_entry(lane, source))

    def _build_entry(self, lane: QueueLane, source: str) -> QueueEntry:
        return QueueEntry(lane, source, self.attempts.count(source).bit_length())

    def _refuse_if_full(self, new_entry: QueueEntry) -> None:
        ahead = [
            entry
            for lane, entry in self._active
            if lane is new_entry.lane and entry.rank <= new_entry.rank
        ]
        if len(ahead) >= ACTIVE_MAX[new_entry.lane]:
            raise too_many_logins(new_entry.rank)
        self._find_entry_to_drop(new_entry)

    @contextmanager
    def enter(self, lane: QueueLane, source: str) -> Iterator[QueueEntry]:
        """Count an attempt and enter the queue. Raise TooManyRequests if the lane is full."""
        with self._lock:
            entry = self._build_entry(lane, source)
            if lane is not QueueLane.password_change:
                self.attempts.add(source)
            self._refuse_if_full(entry)
            self._active.append((lane, entry))
        try:
            yield entry
        finally:
            with self._lock:
                self._active.remove((lane, entry))
                self._stop_waiting(entry)

    def has_failed(self, source: str) -> bool:
        """Return whether the source has a recent failed or unfinished attempt."""
        with self._lock:
            return self.attempts.count(source) > 0

    def cancel_attempt(self, entry: QueueEntry) -> None:
        """Do not count this attempt: the password was right."""
        with self._lock:
            self.attempts.cancel(entry.source)

    def submit(self, entry: QueueEntry, work: Callable[[], Any]) -> Future[Any]:
        """Return the future result of the work, or TooManyRequests if the entry is dropped."""
        entry.result, entry.work = Future(), work
        with self._lock:
            dropped = self._find_entry_to_drop(entry)
            if dropped is not None:
                self._stop_waiting(dropped)
                with suppress(InvalidStateError):  # its client has just disconnected
                    dropped.result.set_exception(too_many_logins(dropped.rank))
            self._waiting[entry.lane].append(entry)
            self._lock.notify()
        self._thread.submit(self._hash_next)
        return entry.result

    def _find_entry_to_drop(self, new_entry: QueueEntry) -> QueueEntry | None:
        """Return None if the lane has space. Raise TooManyRequests if no entry ranks higher."""
        waiting = self._waiting[new_entry.lane]
        if len(waiting) < WAITING_MAX[new_entry.lane]:
            return None
        last = max(reversed(waiting), key=_get_rank)
        if last.rank <= new_entry.rank:
            raise too_many_logins(new_entry.rank)
        return last

    def _stop_waiting(self, entry: QueueEntry) -> None:
        with suppress(ValueError):  # it is not waiting any more
            self._waiting[entry.lane].remove(entry)
            self._lock.notify()

    def _hash_next(self) -> None:
        """Run the work of the next entry, if any is left."""
        with self._lock:
            ranks = [entry.rank for entry in self._waiting[QueueLane.unknown_source]]
            if len(ranks) > 1:
                self._lock.wait_for(self._need_not_pause, min(ranks) * BACKOFF_SECONDS)
        with hashing_core():  # choose the entry after the wait for a core
            with self._lock:
                entry = self._pop_next()
            if entry is None or entry.work is None:
                return
            if entry.result.set_running_or_notify_cancel():
                try:
                    entry.result.set_result(entry.work())
                except BaseException as error:  # noqa: BLE001  # raised where the result is awaited
                    entry.result.set_exception(error)

    def _need_not_pause(self) -> bool:
        """Return False while every waiting entry has failed before."""
        failed_before = [entry for entry in self._waiting[QueueLane.unknown_source] if entry.rank]
        return len(failed_before) < self.waiting or not failed_before

    def _pop_next(self) -> QueueEntry | None:
        for _ in QueueLane:
            self._lane_order.rotate(-1)
            waiting = self._waiting[self._lane_order[-1]]
            if waiting:
                entry = min(waiting, key=_get_rank)
                waiting.remove(entry)
                return entry
        return None


def _get_rank(entry: QueueEntry) -> int:
    return entry.rank


def too_many_logins(rank: int = 0) -> TooManyRequests:
    """Sources with more failed attempts are asked to wait longer."""
    return TooManyRequests(
        "logins_waiting",
        "Too many logins are waiting. Try again later.",
        retry_after=1 + rank // 2,
    )


def _lower_thread_priority() -> None:
    """On Linux only: there each thread has its own priority."""
    if sys.platform == "linux":
        with suppress(OSError):
            thread = threading.get_native_id()
            # A privileged process could raise the priority of its thread above its own.
            niceness = max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread))
            os.setpriority(os.PRIO_PROCESS, thread, niceness)
