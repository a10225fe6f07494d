"""Sums on a Spark cluster, for lakes that one machine would take too long to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import ibis
import pyarrow as pa

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.lake.decimal_overflow import LINES, lines_to_ask, may_outgrow, put_together
from nimbill.costs.lake.parquet_files import Lake

if TYPE_CHECKING:
    from nimbill.costs.lake.engines.engine import SumQuery

ROWS_PER_BATCH = 50_000

# What the answers depend on; all else is the cluster's own business (spark-defaults.conf).
CONFIGURATION = {
    "spark.sql.session.timeZone": "UTC",  # the day of a moment is its day there
    # a difference of two costs keeps all 22 digits behind the point, or is an error
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.ansi.enabled": "true",  # a sum that outgrows its type is an error, not a null
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class SparkEngine:
    """The lake must be reachable from every worker under the same address."""

    def __init__(self, lake: Lake, *, master: str) -> None:
        from pyspark.sql import SparkSession  # an extra: not everybody has it

        self._lake = lake
        builder = SparkSession.builder.master(master).appName("nimbill")
        for name, value in CONFIGURATION.items():
            builder = builder.config(name, value)
        self._session = builder.getOrCreate()

    def run(self, question: SumQuery, files: Sequence[str]) -> pa.Table:
        self._show(files)
        asked = question(lines_to_ask(wide=may_outgrow(self._lake.metadata(files))))
        return put_together(self._session.sql(ibis.to_sql(asked, dialect="pyspark")).toArrow())

    def batches(self, question: SumQuery, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self.run(question, files).to_batches(max_chunksize=ROWS_PER_BATCH)

    def _show(self, files: Sequence[str]) -> None:
        from pyspark.sql.pandas.types import from_arrow_schema

        shape = from_arrow_schema(SCHEMA)
        if files:
            addresses = map(_address, self._lake.addresses(files))
            frame = self._session.read.schema(shape).parquet(*addresses)
        else:
            frame = self._session.createDataFrame([], shape)
        frame.createOrReplaceTempView(LINES)

    def close(self) -> None:
        self._session.stop()


def _address(path: str) -> str:
    """As Hadoop's file systems are told: a folder shared by all machines, or an object store."""
    return path.replace("s3://", "s3a://", 1) if "://" in path else f"file://{path}"
