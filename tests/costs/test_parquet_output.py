"""Parquet files are written with few system calls, and a failed one raises."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.parquet_output import open_parquet_output, write_parquet

TABLE = pa.table({f"column {number}": [number, None] for number in range(50)})


def test_a_written_table_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"

    write_parquet(TABLE, path)

    assert pq.read_table(path) == TABLE


def test_small_writes_reach_the_file_together(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"

    with open_parquet_output(path) as output:
        pq.write_table(TABLE, output)
        assert path.stat().st_size == 0

    assert path.stat().st_size > 0


def test_a_file_that_cannot_grow_is_an_error(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            write_parquet(TABLE, tmp_path / "table.parquet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
