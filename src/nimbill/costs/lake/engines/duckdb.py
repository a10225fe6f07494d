"""Sums in this process, on DuckDB: bounded in memory, spilling into a folder of ours."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.lake.decimal_overflow import LINES, may_outgrow, put_together
from nimbill.costs.lake.engines.compiled_sums import sql_of
from nimbill.costs.lake.parquet_files import Lake

if TYPE_CHECKING:
    from nimbill.costs.lake.engines.engine import SumQuery

MEMORY = "512MB"
THREADS_MAX = 8
ROWS_PER_BATCH = 50_000
PATTERN = frozenset("*?[")  # in a path, DuckDB would look for what matches


class DuckDBEngine:
    def __init__(self, lake: Lake, *, scratch: Path, memory: str = MEMORY) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self._lake = lake
        self._scratch = Path(tempfile.mkdtemp(dir=scratch, prefix="duckdb-"))
        self._read_by_arrow: object = None  # must live as long as it is asked
        self._connection = duckdb.connect(
            config={
                "memory_limit": memory,
                "threads": min(os.cpu_count() or 1, THREADS_MAX),
                "temp_directory": str(self._scratch),
                "preserve_insertion_order": False,
                # nothing is ever fetched: what is not built in does not exist
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._connection.execute("SET TimeZone = 'UTC'")  # the day of a moment is its day there

    def run(self, question: SumQuery, files: Sequence[str]) -> pa.Table:
        return put_together(self._asked(question, files).to_arrow_table())

    def batches(self, question: SumQuery, files: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for batch in self._asked(question, files).to_arrow_reader(ROWS_PER_BATCH):
            yield from put_together(pa.Table.from_batches([batch])).to_batches()

    def _asked(self, question: SumQuery, files: Sequence[str]) -> duckdb.DuckDBPyRelation:
        self._show(files)
        return self._connection.sql(sql_of(question, wide=may_outgrow(self._lake.metadata(files))))

    def _show(self, files: Sequence[str]) -> None:
        """Read by DuckDB itself from a folder; from an object store, which it cannot, by Arrow."""
        addresses = self._lake.addresses(files)
        if files and self._lake.is_local and not any(PATTERN & set(path) for path in addresses):
            lines = self._connection.read_parquet(addresses)
        else:
            self._read_by_arrow = self._lake.dataset(files) if files else SCHEMA.empty_table()
            lines = self._connection.from_arrow(self._read_by_arrow)
        lines.create_view(LINES, replace=True)

    def close(self) -> None:
        self._connection.close()
        shutil.rmtree(self._scratch, ignore_errors=True)
