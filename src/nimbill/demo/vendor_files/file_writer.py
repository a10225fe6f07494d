"""Writes a synthetic month as vendor files, in any dialect, file format, split and order."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import BinaryIO, Literal, cast

import pyarrow as pa
import pyarrow.parquet as pq
from isal import igzip_threaded

from nimbill.demo.vendor_files.charges import Charges, SyntheticMonth, generate_charges
from nimbill.demo.vendor_files.columns import FileColumn, arrow_table, csv_header, csv_lines
from nimbill.demo.vendor_files.dialects import CostType, Dialect, build_columns
from nimbill.demo.vendor_files.manifests import write_manifest

FileFormat = Literal["csv", "csv.gz", "csv.zip", "parquet"]

SHUFFLED_LINES_MAX = 200_000  # shuffling holds the whole month in memory


@dataclass(frozen=True, slots=True)
class VendorFiles:
    parts: tuple[Path, ...]
    manifest: Path | None


def write_files(
    month: SyntheticMonth,
    dialect: Dialect,
    folder: Path,
    *,
    file_format: FileFormat = "csv.gz",
    parts: int | Sequence[int] = 1,
    shuffle_seed: int | None = None,
    cost_type: CostType = "decimal",
    assembled_at: datetime | None = None,
    name: str = "report",
) -> VendorFiles:
    """Write the month into the folder.

    `parts` is the number of files, or the number of lines of each file. A manifest is written if
    `assembled_at` is given.
    """
    assert month.vendor in dialect.vendors, f"{dialect} does not exist for {month.vendor}"
    folder.mkdir(parents=True, exist_ok=True)
    columns = build_columns(month, dialect, cost_type, typed=file_format == "parquet")
    paths = []
    for number, blocks in enumerate(_split(month, parts, shuffle_seed), 1):
        path = folder / f"{name}-{number:05d}.{file_format}"
        FORMAT_WRITERS[file_format](path, _FilePart(month, columns, blocks))
        paths.append(path)
    if assembled_at is None:
        return VendorFiles(tuple(paths), None)
    return VendorFiles(tuple(paths), write_manifest(month, dialect, paths, name, assembled_at))


# ── parts ────────────────────────────────────────────────────────────────────────────────────────


def _split(
    month: SyntheticMonth, parts: int | Sequence[int], shuffle_seed: int | None
) -> Iterator[Iterator[Charges]]:
    shuffled = None if shuffle_seed is None else _shuffle(month, shuffle_seed)
    first = 0
    for size in _part_sizes(month.lines, parts):
        if shuffled is None:
            yield generate_charges(month, first, size)
        else:
            yield iter([shuffled.slice(first, size)])
        first += size


def _part_sizes(lines: int, parts: int | Sequence[int]) -> list[int]:
    if isinstance(parts, int):
        size, remainder = divmod(lines, parts)
        return [size + (number < remainder) for number in range(parts)]
    assert sum(parts) == lines, f"the parts have {sum(parts)} lines, the month has {lines}"
    return list(parts)


def _shuffle(month: SyntheticMonth, seed: int) -> Charges:
    assert month.lines <= SHUFFLED_LINES_MAX
    blocks = [block.arrays() for block in generate_charges(month)]
    charges = Charges(*(pa.concat_arrays(arrays) for arrays in zip(*blocks, strict=True)))
    rows = list(range(month.lines))
    Random(seed).shuffle(rows)
    return charges.select_rows(pa.array(rows, pa.int64()))


# ── file formats ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _FilePart:
    month: SyntheticMonth
    columns: Sequence[FileColumn]
    blocks: Iterator[Charges]

    def write_csv(self, out: BinaryIO) -> None:
        out.write(csv_header(self.columns))
        for block in self.blocks:
            if len(block):
                out.write(csv_lines(self.columns, block, self.month))
                out.write(b"\n")


def _write_csv(path: Path, part: _FilePart) -> None:
    with path.open("wb") as out:
        part.write_csv(out)


def _write_gzip(path: Path, part: _FilePart) -> None:
    with igzip_threaded.open(path, "wb", compresslevel=1) as out:  # type: ignore[no-untyped-call]
        part.write_csv(cast("BinaryIO", out))


def _write_zip(path: Path, part: _FilePart) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(path.name.removesuffix(".zip"), "w", force_zip64=True) as out,
    ):
        part.write_csv(cast("BinaryIO", out))


def _write_parquet(path: Path, part: _FilePart) -> None:
    """Leaves out the Arrow schema, so that dictionary-encoded columns are read back as text."""
    no_charges = next(generate_charges(SyntheticMonth(lines=1))).slice(0, 0)
    schema = arrow_table(part.columns, no_charges, part.month).schema
    with pq.ParquetWriter(path, schema, compression="snappy", store_schema=False) as writer:
        for block in part.blocks:
            writer.write_table(arrow_table(part.columns, block, part.month))


FORMAT_WRITERS: dict[FileFormat, Callable[[Path, _FilePart], None]] = {
    "csv": _write_csv,
    "csv.gz": _write_gzip,
    "csv.zip": _write_zip,
    "parquet": _write_parquet,
}
