"""Recent requests by user or source, counted in memory that all workers of a machine share.

It limits the requests of a user per second and ranks the sources of logins. See
docs/decisions/0019-count-requests-in-a-mapped-file.md.
"""

import fcntl
import mmap
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import structlog

log = structlog.get_logger()

# See docs/choices.md, request-rate.

WINDOW_NS = 1_000_000_000
SLOTS_MAX = 4_096
BYTES_MAX = 16 << 20
PROBES = 8  # slots that a key may be in
LOCK_NS_MAX = 1_000_000
NO_FILE = -1
_IDENTITY, _POSITION, _TIMES = 0, 1, 2  # fields of a slot: key, next place, times of requests


class SharedRateLimit:
    """Allows `limit` requests in any second, or in another window.

    A slot holds the times of the last `limit` requests of a key in a ring. A request is allowed if
    the oldest of them is older than the window. Processes with the same file count together, and
    without a file those that were forked from the process that created it.
    """

    def __init__(self, file: Path | None, limit: int, window_ns: int = WINDOW_NS) -> None:
        self._limit = limit
        self._window_ns = window_ns
        self._width = _TIMES + limit
        self._slots = max(PROBES, min(SLOTS_MAX, BYTES_MAX // (8 * self._width)))
        size = self._slots * self._width * 8
        self._descriptor = NO_FILE if file is None else _open_file(file, size)
        self._table = memoryview(mmap.mmap(self._descriptor, size)).cast("Q")
        self._no_times = memoryview(bytes(8 * limit)).cast("Q")
        if self._descriptor != NO_FILE:
            weakref.finalize(self, os.close, self._descriptor)

    def allow(self, key: str, now: int | None = None) -> bool:
        """Count a request, unless the limit is reached. `now` is in monotonic nanoseconds."""
        with self._use_slot(key, now) as (slot, at):
            place = slot + _TIMES + self._table[slot + _POSITION] % self._limit
            if self._is_recent(self._table[place], at):
                return False
            self._write(slot, at)
            return True

    def add(self, key: str, now: int | None = None) -> None:
        """Count a request in place of the oldest, whether or not the limit is reached."""
        with self._use_slot(key, now) as (slot, at):
            self._write(slot, at)

    def count(self, key: str, now: int | None = None) -> int:
        """Return how many of the last `limit` requests are in the window."""
        with self._use_slot(key, now) as (slot, at):
            times = self._table[slot + _TIMES : slot + self._width]
            return sum(self._is_recent(time_, at) for time_ in times)

    def cancel(self, key: str, now: int | None = None) -> None:
        """Uncount the latest request."""
        with self._use_slot(key, now) as (slot, _):
            position = (self._table[slot + _POSITION] - 1) % self._limit
            self._table[slot + _TIMES + position] = 0
            self._table[slot + _POSITION] = position

    @contextmanager
    def _use_slot(self, key: str, now: int | None = None) -> Iterator[tuple[int, int]]:
        """Lock the file and find the slot of the key; the second value is the time."""
        digest = blake2b(key.encode(), digest_size=16).digest()
        identity = int.from_bytes(digest[:8], "little") or 1
        first_slot = int.from_bytes(digest[8:], "little") % self._slots
        is_locked = self.lock()
        try:
            now = time.monotonic_ns() if now is None else now
            slot = first_slot * self._width
            if self._table[slot + _IDENTITY] != identity:
                slot = self._find_slot(identity, first_slot, now)
            yield slot, now
        finally:
            if is_locked:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def lock(self) -> bool:
        """Never wait long: without the lock a request may be missed, and nothing worse happens.

        The kernel releases the lock of a process that dies.
        """
        if self._descriptor == NO_FILE:
            return False
        deadline = 0
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                deadline = deadline or time.perf_counter_ns() + LOCK_NS_MAX
                if time.perf_counter_ns() > deadline:
                    return False
            else:
                return True

    def _write(self, slot: int, now: int) -> None:
        position = self._table[slot + _POSITION] % self._limit
        self._table[slot + _TIMES + position] = now
        self._table[slot + _POSITION] = (position + 1) % self._limit

    def _find_slot(self, identity: int, first_slot: int, now: int) -> int:
        """If other keys use every slot, the one that has been quiet for longest is forgotten."""
        table = self._table
        slots = [(first_slot + probe) % self._slots * self._width for probe in range(PROBES)]
        for slot in slots:
            if table[slot + _IDENTITY] == identity:
                return slot
        slot = min(slots, key=lambda slot: self._newest(slot, now))
        table[slot + _IDENTITY] = identity
        table[slot + _POSITION] = 0
        table[slot + _TIMES : slot + self._width] = self._no_times
        return slot

    def _newest(self, slot: int, now: int) -> int:
        at = self._table[slot + _TIMES + (self._table[slot + _POSITION] - 1) % self._limit]
        return at if self._is_recent(at, now) else 0

    def _is_recent(self, at: int, now: int) -> bool:
        """A time in the future is from before a restart of the machine."""
        return at != 0 and 0 <= now - at < self._window_ns


def _open_file(path: Path, size: int) -> int:
    """Reserve the space at once: a full disk would otherwise kill the process while it writes.

    NO_FILE if that fails; then each worker counts alone.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        log.warning("rate_limit_not_shared", error=type(error).__name__)
        return NO_FILE
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        log.warning("rate_limit_not_shared", error=type(error).__name__)
        os.close(descriptor)
        return NO_FILE
    return descriptor
