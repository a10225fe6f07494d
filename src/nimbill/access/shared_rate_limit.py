"""A rate limit per user and second that all worker processes of a machine share.

The times of the last requests of each user are in a small file that every worker maps into its
memory; see docs/decisions/0019-count-requests-in-a-mapped-file.md.
"""

import fcntl
import mmap
import os
import time
import weakref
from hashlib import blake2b
from pathlib import Path

import structlog

log = structlog.get_logger()

# See docs/choices.md, request-rate.

WINDOW_NS = 1_000_000_000
SLOTS_MAX = 4_096
BYTES_MAX = 16 << 20
PROBES = 8  # slots that a user may be in
LOCK_NS_MAX = 1_000_000
NO_FILE = -1
_IDENTITY, _POSITION, _TIMES = 0, 1, 2  # fields of a slot: user, next place, times of requests


class SharedRateLimit:
    """Allows `limit` requests in any second. Processes with the same file count together.

    A slot holds the times of the last `limit` requests of a user in a ring. A request is allowed if
    the oldest of them is more than a second ago.
    """

    def __init__(self, file: Path | None, limit: int) -> None:
        self._limit = limit
        self._width = _TIMES + limit
        self._slots = max(PROBES, min(SLOTS_MAX, BYTES_MAX // (8 * self._width)))
        size = self._slots * self._width * 8
        self._descriptor = NO_FILE if file is None else _open_file(file, size)
        self._table = memoryview(mmap.mmap(self._descriptor, size)).cast("Q")
        self._no_times = memoryview(bytes(8 * limit)).cast("Q")
        if self._descriptor != NO_FILE:
            weakref.finalize(self, os.close, self._descriptor)

    def allow(self, user_id: str, now: int | None = None) -> bool:
        """Count a request, unless the limit is reached. `now` is in monotonic nanoseconds."""
        digest = blake2b(user_id.encode(), digest_size=16).digest()
        identity = int.from_bytes(digest[:8], "little") or 1
        first_slot = int.from_bytes(digest[8:], "little") % self._slots
        is_locked = self.lock()
        try:
            now = time.monotonic_ns() if now is None else now
            slot: int | None = first_slot * self._width
            if self._table[first_slot * self._width + _IDENTITY] != identity:
                slot = self._find_slot(identity, first_slot, now)
            return slot is None or self._count(slot, now)
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

    def _count(self, slot: int, now: int) -> bool:
        table = self._table
        position = table[slot + _POSITION] % self._limit
        place = slot + _TIMES + position
        if _is_recent(table[place], now):
            return False
        table[place] = now
        table[slot + _POSITION] = (position + 1) % self._limit
        return True

    def _find_slot(self, identity: int, first_slot: int, now: int) -> int | None:
        """None if all slots are in use by others: then requests are not limited."""
        table = self._table
        slots = [(first_slot + probe) % self._slots * self._width for probe in range(PROBES)]
        for slot in slots:
            if table[slot + _IDENTITY] == identity:
                return slot
        for slot in slots:
            newest = slot + _TIMES + (table[slot + _POSITION] - 1) % self._limit
            if table[slot + _IDENTITY] == 0 or not _is_recent(table[newest], now):
                table[slot + _IDENTITY] = identity
                table[slot + _POSITION] = 0
                table[slot + _TIMES : slot + self._width] = self._no_times
                return slot
        return None


def _is_recent(at: int, now: int) -> bool:
    """A time in the future is from before a restart of the machine."""
    return at != 0 and 0 <= now - at < WINDOW_NS


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
