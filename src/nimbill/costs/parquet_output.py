"""Parquet files on a disk, written with few system calls."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

BUFFER_BYTES = 256 * 1024


def open_parquet_output(path: Path) -> pa.NativeFile:
    """Open a new file that collects small writes: Parquet has about five for each column."""
    return pa.output_stream(path, compression=None, buffer_size=BUFFER_BYTES)


def write_parquet(table: pa.Table, path: Path) -> None:
    with open_parquet_output(path) as output:
        pq.write_table(table, output)
