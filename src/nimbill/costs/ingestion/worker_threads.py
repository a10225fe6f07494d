"""The number of threads that conversion and second reading use."""

import os

THREADS_MAX = 4


def count_worker_threads(*, reserved: int = 0) -> int:
    """At least one; `reserved` cores are left for work that runs at the same time."""
    return max(1, min(os.cpu_count() or 1, THREADS_MAX) - reserved)
