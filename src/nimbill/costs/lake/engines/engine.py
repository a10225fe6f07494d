"""The interface of an engine that computes sums over cost lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr.types import Table

    SumQuery = Callable[[Table], Table]


class EngineError(Exception):
    """The engine cannot be used. The message says why."""


class Engine(Protocol):
    """Runs the queries of `sums.py` over Parquet files, given by their names in the lake."""

    def run(self, query: SumQuery, files: Sequence[str]) -> pa.Table:
        """Return the complete result."""
        ...

    def batches(self, query: SumQuery, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Return the result in batches, for results that may be large."""
        ...

    def close(self) -> None: ...
