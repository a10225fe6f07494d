"""Limits the memory and the time of the process that prepares an import."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.foundation.process_memory import limit_memory, measure_memory

# See docs/choices.md, import-limits.

MIB = 2**20
POLL_SECONDS = 0.02
BYTES_PER_EXTRA_SECOND = MIB
# The kernel refuses memory beyond this multiple, if it is requested faster than the watch polls.
HARD_LIMIT_FACTOR = 2


class ResourceWatch:
    """Calls `refuse` from a background thread when a limit is exceeded.

    The main thread may be inside a library that cannot be interrupted, so `refuse` has to report
    the error and end the process.
    """

    def __init__(
        self, *, memory_mib: int, seconds: int, refuse: Callable[[CostFileError], None]
    ) -> None:
        self._file = ""
        self._memory_mib = memory_mib
        self._seconds = seconds
        self._refuse = refuse
        self._started_at = time.monotonic()

    def start(self) -> None:
        limit_memory(self._memory_mib * HARD_LIMIT_FACTOR * MIB)
        threading.Thread(target=self._run, daemon=True).start()

    def name_file(self, name: str) -> None:
        """Name the file that is read from now on; a refusal names it."""
        self._file = name

    def extend_time(self, size: int) -> None:
        """Allow more time for files of this size."""
        self._seconds += size // BYTES_PER_EXTRA_SECOND

    def build_memory_error(self) -> CostFileError:
        return delivery_error(self._file, "memory", self._memory_mib)

    def _run(self) -> None:
        while True:
            if measure_memory() > self._memory_mib * MIB:
                self._refuse(self.build_memory_error())
                return
            if time.monotonic() - self._started_at > self._seconds:
                self._refuse(delivery_error(self._file, "time", self._seconds))
                return
            time.sleep(POLL_SECONDS)
