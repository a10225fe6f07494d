"""Measure and limit the memory of the current process."""

import os
import resource
from contextlib import suppress
from pathlib import Path

_MEMORY_STATUS = Path("/proc/self/statm")


def measure_memory() -> int:
    """Return the resident bytes; elsewhere than on Linux, their maximum so far."""
    with suppress(OSError):
        return int(_MEMORY_STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def limit_memory(size: int) -> None:
    """Let the kernel refuse more writable memory; reserved address space does not count."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
