"""Writes the rows of a cost file as CSV, gzip, zip or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

CONTAINERS = ("csv", "csv.gz", "csv.zip", "parquet")


def write_rows(
    folder: Path, container: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> Path:
    """All columns of the Parquet file are texts; an empty text is null there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"costs.{container}"
    if container == "parquet":
        columns = [[row[at] or None for row in rows] for at in range(len(header))]
        arrays = [pa.array(column, pa.string()) for column in columns]
        pq.write_table(pa.table(arrays, names=list(header)), path)
        return path
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows([header, *rows])
    content = text.getvalue().encode()
    if container == "csv.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("costs.csv", content)
    else:
        path.write_bytes(gzip.compress(content) if container == "csv.gz" else content)
    return path


def write_lines(
    folder: Path,
    lines: Sequence[Mapping[str, str]],
    *,
    columns: Mapping[str, str],
    container: str = "csv",
) -> Path:
    """Lines contain only the values that differ from those of the columns."""
    rows = [list({**columns, **line}.values()) for line in lines]
    assert all(len(row) == len(columns) for row in rows), "a line has an unknown column"
    return write_rows(folder, container, list(columns), rows)
