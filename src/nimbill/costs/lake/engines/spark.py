"""Computes sums on a Spark cluster, for lakes that are too large for one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import ibis
import pyarrow as pa

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.lake.decimal_overflow import (
    LINES_TABLE,
    build_lines_table,
    may_overflow,
    merge_split_sums,
)
from nimbill.costs.lake.parquet_files import Lake

if TYPE_CHECKING:
    from nimbill.costs.lake.engines.engine import SumQuery

ROWS_PER_BATCH = 50_000

# settings that affect results; all others are left to the cluster (spark-defaults.conf)
CONFIGURATION = {
    "spark.sql.session.timeZone": "UTC",  # days are days in UTC
    # the difference of two costs keeps all 22 decimals, or is an error
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.ansi.enabled": "true",  # an overflow is an error instead of null
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class SparkEngine:
    """All workers must be able to read the lake at the same address."""

    def __init__(self, lake: Lake, *, master: str) -> None:
        from pyspark.sql import SparkSession  # an optional dependency

        self._lake = lake
        builder = SparkSession.builder.master(master).appName("nimbill")
        for name, value in CONFIGURATION.items():
            builder = builder.config(name, value)
        self._session = builder.getOrCreate()

    def run(self, query: SumQuery, files: Sequence[str]) -> pa.Table:
        self._create_view(files)
        split = may_overflow(self._lake.read_metadata(files))
        expression = query(build_lines_table(split=split))
        sql = ibis.to_sql(expression, dialect="pyspark")
        return merge_split_sums(self._session.sql(sql).toArrow())

    def batches(self, query: SumQuery, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self.run(query, files).to_batches(max_chunksize=ROWS_PER_BATCH)

    def _create_view(self, files: Sequence[str]) -> None:
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(SCHEMA)
        if files:
            addresses = map(_hadoop_address, self._lake.addresses(files))
            frame = self._session.read.schema(schema).parquet(*addresses)
        else:
            frame = self._session.createDataFrame([], schema)
        frame.createOrReplaceTempView(LINES_TABLE)

    def close(self) -> None:
        self._session.stop()


def _hadoop_address(path: str) -> str:
    """Hadoop needs the scheme s3a for object stores, and a scheme for local paths."""
    return path.replace("s3://", "s3a://", 1) if "://" in path else f"file://{path}"
