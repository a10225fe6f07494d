"""Computes sums on a Spark cluster, for lakes that are too large for one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.lake.decimal_overflow import (
    LINES_TABLE,
    build_lines_table,
    may_overflow,
    merge_split_sums,
)
from nimbill.costs.lake.engines.spark_session import start_session
from nimbill.costs.lake.parquet_files import Lake

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from nimbill.costs.lake.engines.engine import SumQuery

ROWS_PER_BATCH = 50_000
NUMBER = "id"  # as Spark names it


class SparkEngine:
    """All workers must be able to read the lake at the same address."""

    def __init__(self, lake: Lake, *, master: str) -> None:
        self._lake = lake
        self._session = start_session(master)
        self._split: tuple[list[str], bool] | None = None  # of the files of the last query

    def run(self, query: SumQuery, files: Sequence[str]) -> pa.Table:
        import ibis

        expression = query(build_lines_table(split=self._must_split(files)))
        self._create_view(expression, files)
        sql = ibis.to_sql(expression, dialect="pyspark")
        return merge_split_sums(self._session.sql(sql).toArrow())

    def batches(self, query: SumQuery, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        yield from self.run(query, files).to_batches(max_chunksize=ROWS_PER_BATCH)

    def _must_split(self, files: Sequence[str]) -> bool:
        """Most queries of an import read the same files, so that the answer is kept."""
        if self._split is None or self._split[0] != list(files):
            self._split = (list(files), may_overflow(self._lake.read_metadata(files)))
        return self._split[1]

    def _create_view(self, expression: Table, files: Sequence[str]) -> None:
        """Spark reads folders itself. In object stores pyarrow reads, as everywhere in Nimbill:
        Spark would need further libraries and its own credentials.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        if files and self._lake.is_local:
            reader = self._session.read.schema(from_arrow_schema(SCHEMA))
            addresses = [f"file://{path}" for path in self._lake.addresses(files)]
            frame = reader.parquet(*addresses)
        elif files:
            schema = select_columns(expression)
            # one task for each file, which receives its number in the list
            numbers = self._session.range(0, len(files), numPartitions=len(files))
            read = partial(read_lines, self._lake.url, list(files), schema.names)
            frame = numbers.mapInArrow(read, from_arrow_schema(schema))
        else:
            frame = self._session.createDataFrame([], from_arrow_schema(SCHEMA))
        frame.createOrReplaceTempView(LINES_TABLE)

    def close(self) -> None:
        self._session.stop()


def read_lines(
    lake_url: str,
    files: Sequence[str],
    columns: Sequence[str],
    numbers: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Runs on a worker: read these columns of the files with these numbers."""
    lake = Lake(lake_url)
    for batch in numbers:
        names = [files[number] for number in batch[NUMBER].to_pylist()]
        yield from lake.open_dataset(names).to_batches(columns=list(columns))


def select_columns(expression: Table) -> pa.Schema:
    """The columns of a line that a query may read: every column that it names or returns."""
    from ibis.expr import operations

    fields: list[Any] = expression.op().find(operations.Field)
    names = {field.name for field in fields} | set(expression.columns)
    return pa.schema([field for field in SCHEMA if field.name in names])
