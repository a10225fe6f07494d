"""The second reading of a delivery, beside the first one where that takes long."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType

import duckdb

from nimbill.costs.ingestion.delivery import Delivery, Limits
from nimbill.costs.ingestion.second_reading import Sums, second_program, sums_of_delivery

# what is small is soon read after the first, and bombs are small
BESIDE_FROM_BYTES = 8 * 2**20
PAUSE_SECONDS = 0.02


class SecondReading:
    """Begun beside the first one where that takes long, else when its sums are asked for.

    Left by an error of the first one, it ends at once: nobody asks for its sums then.
    """

    def __init__(self, delivery: Delivery, *, vendor: str, limits: Limits) -> None:
        self._delivery, self._vendor, self._limits = delivery, vendor, limits
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="second reading")
        self._program: duckdb.DuckDBPyConnection | None = None
        self._beside: Future[Sums] | None = None

    def __enter__(self) -> SecondReading:
        if sum(part.bytes for part in self._delivery.parts) >= BESIDE_FROM_BYTES:
            self._beside = self._pool.submit(self._read, lambda _: None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is not None and self._beside is not None:
            self._interrupt(self._beside)
        self._pool.shutdown(cancel_futures=True)

    def _interrupt(self, beside: Future[Sums]) -> None:
        """Again and again: it may be between two questions, or not have asked its first."""
        while wait([beside], PAUSE_SECONDS).not_done:
            if self._program is not None:
                with suppress(duckdb.Error):  # it may just have come to its end
                    self._program.interrupt()

    @property
    def cores(self) -> int:
        """Best left to it: whoever comes last is waited for."""
        return 0 if self._beside is None else 1

    def sums(self, tell: Callable[[str], None]) -> Sums:
        """What the vendor delivered; Unreadable as `sums_of_delivery` says."""
        return self._read(tell) if self._beside is None else self._beside.result()

    def _read(self, tell: Callable[[str], None]) -> Sums:
        with second_program() as self._program:
            return sums_of_delivery(
                self._delivery,
                self._program,
                vendor=self._vendor,
                limits=self._limits,
                tell=tell,
            )
