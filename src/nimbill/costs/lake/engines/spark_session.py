"""A session on a Spark cluster, with the settings that affect results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nimbill.costs.lake.engines.engine import EngineError
from nimbill.foundation.extras import describe_missing_extra

# all other settings are left to the cluster (spark-defaults.conf)
CONFIGURATION = {
    "spark.sql.session.timeZone": "UTC",  # days are days in UTC
    # the difference of two costs keeps all 22 decimals, or is an error
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.ansi.enabled": "true",  # an overflow is an error instead of null
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def start_session(master: str) -> Any:
    """Whoever starts the session stops it."""
    if missing := describe_missing_extra("spark", "NIMBILL_ENGINE=spark"):
        raise EngineError(missing)
    from pyspark.sql import SparkSession  # an optional dependency

    builder = SparkSession.builder.master(master).appName("nimbill")
    for name, value in CONFIGURATION.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@contextmanager
def open_session(master: str) -> Iterator[Any]:
    session = start_session(master)
    try:
        yield session
    finally:
        session.stop()
