"""Selects the files of the lake that have lines of commitments, without reading a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nimbill.costs.cost_line import COMMITMENT_IDS

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

    from nimbill.costs.lake.parquet_files import Lake


def select_files_with_commitments(lake: Lake, files: Sequence[str]) -> list[str]:
    """Return the files in which at least one line has the id of a commitment.

    Most deliveries have no reservations: their lines are not read again to look for some.
    """
    metadata = lake.read_metadata(files)
    return [name for name, file in zip(files, metadata, strict=True) if _has_values(file)]


def _has_values(file: FileMetaData) -> bool:
    numbers = [number for number, name in enumerate(file.schema.names) if name in COMMITMENT_IDS]
    for group_number in range(file.num_row_groups):
        group = file.row_group(group_number)
        for number in numbers:
            statistics = group.column(number).statistics
            if statistics is None or not statistics.has_null_count:
                return True
            if statistics.null_count < group.num_rows:
                return True
    return False
