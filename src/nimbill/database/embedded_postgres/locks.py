"""File locks with a time limit. Child processes inherit them only if they are passed on."""

from __future__ import annotations

import fcntl
import os
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from nimbill.database.embedded_postgres.binaries import EmbeddedPostgresError

PAUSE_SECONDS = 0.03


class BusyError(EmbeddedPostgresError):
    """Another process held the lock for the whole waiting time."""


# Locks that a forked child must not hold beyond the time for which its parent holds them.
_own_locks: weakref.WeakSet[BinaryIO] = weakref.WeakSet()


def open_lock(path: Path, *, share_with_children: bool = False) -> BinaryIO:
    """Closing the file releases the lock.

    Each opened file locks separately, also within one process, so threads exclude each other too.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    lock = os.fdopen(handle, "r+b", buffering=0)
    if not share_with_children:
        _own_locks.add(lock)
    return lock


def _close_own_locks() -> None:
    """A worker may be forked while another thread of its parent starts the server."""
    for lock in list(_own_locks):
        lock.close()


os.register_at_fork(after_in_child=_close_own_locks)


def try_lock(lock: BinaryIO, *, shared: bool) -> bool:
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def locked(path: Path, *, wait_seconds_max: float) -> Iterator[None]:
    deadline = time.monotonic() + wait_seconds_max
    with open_lock(path) as lock:
        while not try_lock(lock, shared=False):
            if time.monotonic() > deadline:
                raise BusyError(
                    "Another process has been starting or stopping PostgreSQL in "
                    f"{path.parent} for more than {wait_seconds_max:.0f} seconds."
                )
            time.sleep(PAUSE_SECONDS)
        yield
