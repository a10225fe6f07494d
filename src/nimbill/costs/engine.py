"""What works out sums: DuckDB in this process, or a Spark cluster; the answers are the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from nimbill.basis import chosen
from nimbill.costs.lake import Lake
from nimbill.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa
    from ibis.expr.types import Table

    Question = Callable[[Table], Table]

basis = chosen("cost-engines")


class EngineError(Exception):
    """The engine cannot be used; the message says why."""


class Engine(Protocol):
    """Questions are those of `sums.py`; files are names in the lake."""

    def run(self, question: Question, files: Sequence[str]) -> pa.Table:
        """The whole answer at once."""
        ...

    def batches(self, question: Question, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The answer piece by piece, for those that may be long."""
        ...

    def close(self) -> None: ...


@contextmanager
def engine_over(settings: Settings, lake: Lake) -> Iterator[Engine]:
    """The engine that the settings name, for as long as it is needed."""
    engine = _spark(settings, lake) if settings.engine == "spark" else _duckdb(settings, lake)
    try:
        yield engine
    finally:
        engine.close()


def _duckdb(settings: Settings, lake: Lake) -> Engine:
    from nimbill.costs.engines.duckdb import DuckDBEngine

    return DuckDBEngine(lake, scratch=settings.data / "scratch")


def _spark(settings: Settings, lake: Lake) -> Engine:
    assert settings.spark_master is not None, "the settings see to it"
    from nimbill.costs.engines.spark import SparkEngine

    try:
        return SparkEngine(lake, master=settings.spark_master)
    except ModuleNotFoundError as error:
        raise EngineError("NIMBILL_ENGINE=spark needs the extra: nimbill[spark]") from error
