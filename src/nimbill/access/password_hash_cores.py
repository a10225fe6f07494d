"""At most half of the cores hash passwords, however many workers there are: a lock they share."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

CORES = max(1, (os.cpu_count() or 1) // 2)

# Made before the workers are forked, and locked byte by byte: such a lock belongs to a process,
# and one that dies leaves it. Each worker keeps to one core's two bytes: who hashes, and who is
# next; without the second, who has just hashed would be the first to ask again.
with tempfile.TemporaryFile() as _file:
    _shared = os.dup(_file.fileno())  # for as long as the process lives


@contextmanager
def core_to_hash_on() -> Iterator[None]:
    """Waited for in a thread; workers that share a core have it in turn."""
    hashes = 2 * (os.getpid() % CORES)
    is_next = hashes + 1
    fcntl.lockf(_shared, fcntl.LOCK_EX, 1, is_next)
    try:
        fcntl.lockf(_shared, fcntl.LOCK_EX, 1, hashes)
    finally:
        fcntl.lockf(_shared, fcntl.LOCK_UN, 1, is_next)
    try:
        yield
    finally:
        fcntl.lockf(_shared, fcntl.LOCK_UN, 1, hashes)
