"""The second reading of a delivery, beside the first one where that takes long."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType

import duckdb

from nimbill.costs.checking import Sums, second_program, sums_of_delivery
from nimbill.costs.delivery import Delivery, Limits

# what is refused is refused before that, bombs too, and costs nothing then
BESIDE_FROM_LINES = 300_000


class SecondReading:
    """Begun when the first one is that far, or else when its sums are asked for.

    Left by an error of the first one, it ends at once: nobody asks for its sums then.
    """

    def __init__(self, delivery: Delivery, *, vendor: str, limits: Limits) -> None:
        self._delivery, self._vendor, self._limits = delivery, vendor, limits
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="second reading")
        self._program: duckdb.DuckDBPyConnection | None = None
        self._beside: Future[Sums] | None = None

    def __enter__(self) -> SecondReading:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if kind is not None and self._program is not None:
            with suppress(duckdb.Error):  # it may just have come to its end
                self._program.interrupt()
        self._pool.shutdown(cancel_futures=True)

    def first_is_at(self, lines: int) -> None:
        if self._beside is None and lines >= BESIDE_FROM_LINES:
            self._beside = self._pool.submit(self._read, lambda _: None)

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
