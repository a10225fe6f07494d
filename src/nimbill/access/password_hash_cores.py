"""A lock shared by all workers: at most half of the cores hash passwords."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

CORES = max(1, (os.cpu_count() or 1) // 2)

# The file is created before the workers are forked; its bytes are locked one by one. Such a lock
# belongs to a process and is released when the process dies. Each worker uses two bytes of one
# core: one for the worker that hashes, one for the next. Without the second byte, a worker that
# has just hashed would usually get the lock again before the others.
with tempfile.TemporaryFile() as _file:
    _lock_file = os.dup(_file.fileno())  # stays open as long as the process


@contextmanager
def hashing_core() -> Iterator[None]:
    """Wait for a core, in a thread. Workers that share a core use it in turn."""
    hashing_byte = 2 * (os.getpid() % CORES)
    next_byte = hashing_byte + 1
    fcntl.lockf(_lock_file, fcntl.LOCK_EX, 1, next_byte)
    try:
        fcntl.lockf(_lock_file, fcntl.LOCK_EX, 1, hashing_byte)
    finally:
        fcntl.lockf(_lock_file, fcntl.LOCK_UN, 1, next_byte)
    try:
        yield
    finally:
        fcntl.lockf(_lock_file, fcntl.LOCK_UN, 1, hashing_byte)
