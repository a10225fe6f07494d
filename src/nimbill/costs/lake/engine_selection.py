"""Opens the engine that the settings name: DuckDB in this process, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nimbill.costs.lake.engines.engine import Engine
from nimbill.costs.lake.parquet_files import Lake
from nimbill.foundation.settings import Settings

# See docs/choices.md, cost-engines.


@contextmanager
def open_engine(settings: Settings, lake: Lake) -> Iterator[Engine]:
    """Both engines return the same digits."""
    engine = _spark(settings, lake) if settings.engine == "spark" else _duckdb(settings, lake)
    try:
        yield engine
    finally:
        engine.close()


def _duckdb(settings: Settings, lake: Lake) -> Engine:
    from nimbill.costs.lake.engines.duckdb import DuckDBEngine

    return DuckDBEngine(lake, scratch=settings.data / "scratch")


def _spark(settings: Settings, lake: Lake) -> Engine:
    assert settings.spark_master is not None, "read_settings requires it for this engine"
    from nimbill.costs.lake.engines.spark import SparkEngine

    return SparkEngine(lake, master=settings.spark_master)
