"""Writes a month as a FOCUS Cost and Usage file (Parquet), whatever format was delivered.

An import of this file in version 1.2 gives the same sums, line types and kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nimbill.costs.focus_columns import FocusVersion
from nimbill.costs.focus_lines import SCHEMAS, convert_to_focus
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile
from nimbill.costs.parquet_output import open_parquet_output
from nimbill.foundation.fsync import fsync_path
from nimbill.foundation.vendor_names import NO_NAMES, ProviderNames

# See docs/choices.md, focus-export.

LINES_PER_BATCH = 65_536


class FocusWriter:
    """Writes files that replace existing ones only if all of them are complete."""

    def __init__(self) -> None:
        self._partial: dict[Path, Path] = {}

    def write(self, output: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> int:
        """Write a file beside `output`; return the number of its lines."""
        partial = output.with_name(f".{output.name}.part")
        self._partial[output] = partial
        lines = 0
        with (
            open_parquet_output(partial) as file,
            pq.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for table in tables:
                writer.write_table(table)
                lines += len(table)
        fsync_path(partial)
        return lines

    def __enter__(self) -> FocusWriter:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            if error is None:
                for output, partial in self._partial.items():
                    partial.replace(output)
                for folder in {output.parent for output in self._partial}:
                    fsync_path(folder)
        finally:
            for partial in self._partial.values():
                with suppress(OSError):
                    partial.unlink(missing_ok=True)


def write_cost_and_usage(
    writer: FocusWriter,
    lake: Lake,
    files: Sequence[CurrentLakeFile],
    month: str,
    output: Path,
    version: FocusVersion = FocusVersion.v1_2,
    *,
    provider_names: ProviderNames = NO_NAMES,
) -> int:
    """Write the current cost lines; return their number.

    `provider_names` are those of the settings, for vendors that are not known here.
    """
    tables = _read_tables(lake, files, month, version, provider_names)
    return writer.write(output, SCHEMAS[version], tables)


def _read_tables(
    lake: Lake,
    files: Sequence[CurrentLakeFile],
    month: str,
    version: FocusVersion,
    provider_names: ProviderNames,
) -> Iterator[pa.Table]:
    for file in files:
        is_current = pc.field("payer_id").isin(sorted(file.payers))
        dataset = lake.open_dataset([file.path])
        scanner = dataset.scanner(filter=is_current, batch_size=LINES_PER_BATCH)
        for batch in scanner.to_batches():
            if len(batch):
                lines = pa.Table.from_batches([batch])
                yield convert_to_focus(lines, file.vendor, month, version, provider_names)
