"""Computes sums with DuckDB in this process, with limited memory and temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.lake.decimal_overflow import LINES_TABLE, may_overflow, merge_split_sums
from nimbill.costs.lake.engines.compiled_sums import load_sql
from nimbill.costs.lake.parquet_files import Lake

if TYPE_CHECKING:
    from nimbill.costs.lake.engines.engine import SumQuery

MEMORY = "512MB"
THREADS_MAX = 8
ROWS_PER_BATCH = 50_000
GLOB_CHARACTERS = frozenset("*?[")  # DuckDB expands them in paths


class DuckDBEngine:
    def __init__(self, lake: Lake, *, scratch: Path, memory: str = MEMORY) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self._lake = lake
        self._scratch = Path(tempfile.mkdtemp(dir=scratch, prefix="duckdb-"))
        self._dataset: object = None  # keeps the dataset alive while DuckDB reads it
        self._viewed_files: list[str] | None = None
        self._connection = duckdb.connect(
            config={
                "memory_limit": memory,
                "threads": min(os.cpu_count() or 1, THREADS_MAX),
                "temp_directory": str(self._scratch),
                "preserve_insertion_order": False,
                # never download extensions
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._connection.execute("SET TimeZone = 'UTC'")  # days are days in UTC

    def run(self, query: SumQuery, files: Sequence[str]) -> pa.Table:
        return merge_split_sums(self._execute(query, files).to_arrow_table())

    def batches(self, query: SumQuery, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._execute(query, files).to_arrow_reader(ROWS_PER_BATCH):
            yield from merge_split_sums(pa.Table.from_batches([batch])).to_batches()

    def fetch(
        self, sql: str, files: Sequence[str], parameters: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        """Run SQL over the table of lines and return all rows."""
        self._create_view(files)
        rows: list[tuple[Any, ...]] = self._connection.execute(sql, parameters).fetchall()
        return rows

    def _execute(self, query: SumQuery, files: Sequence[str]) -> duckdb.DuckDBPyRelation:
        self._create_view(files)
        split = may_overflow(self._lake.read_metadata(files))
        return self._connection.sql(load_sql(query, split=split))

    def _create_view(self, files: Sequence[str]) -> None:
        """DuckDB reads local files itself; it cannot read object stores, so that Arrow does."""
        if self._viewed_files == list(files):  # most queries of an import read the same files
            return
        self._viewed_files = None
        addresses = self._lake.addresses(files)
        has_glob = any(GLOB_CHARACTERS & set(path) for path in addresses)
        if files and self._lake.is_local and not has_glob:
            lines = self._connection.read_parquet(addresses)
        else:
            self._dataset = self._lake.open_dataset(files) if files else SCHEMA.empty_table()
            lines = self._connection.from_arrow(self._dataset)
        lines.create_view(LINES_TABLE, replace=True)
        self._viewed_files = list(files)

    def close(self) -> None:
        self._connection.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
