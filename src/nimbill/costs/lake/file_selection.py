"""Selects the files of the lake that have values in certain columns, without reading a line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

    from nimbill.costs.lake.parquet_files import Lake


def select_files_with_values(
    lake: Lake, files: Sequence[str], columns: Collection[str]
) -> list[str]:
    """Return the files with a value in at least one of the columns.

    Most deliveries have no reservations: their lines are not read again to look for some.
    """
    metadata = lake.read_metadata(files)
    return [name for name, file in zip(files, metadata, strict=True) if _has_values(file, columns)]


def _has_values(file: FileMetaData, columns: Collection[str]) -> bool:
    numbers = [number for number, name in enumerate(file.schema.names) if name in columns]
    for group_number in range(file.num_row_groups):
        group = file.row_group(group_number)
        for number in numbers:
            statistics = group.column(number).statistics
            if statistics is None or not statistics.has_null_count:
                return True
            if statistics.null_count < group.num_rows:
                return True
    return False
