"""Fetches a vendor's delivery: selects its files, copies what is remote, checks the file types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from nimbill.costs.ingestion.decompression import GZIP, open_csv
from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.json_lines import is_json
from nimbill.costs.ingestion.manifest_selection import Notify, select_delivery_files
from nimbill.costs.ingestion.manifests import Manifest, ManifestEntry
from nimbill.costs.ingestion.parts import Delivery, FileType, Limits, Part, compute_content_hash
from nimbill.costs.ingestion.source_resolution import resolve_sources
from nimbill.costs.ingestion.storage_sources import FetchedFile, SourceFile, StorageSource
from nimbill.costs.ingestion.unpacked_size import ROWS_MIN, UnpackedSize
from nimbill.costs.ingestion.zip_members import extract_csv_members
from nimbill.foundation.fsync import fsync_path

# See docs/choices.md, cost-deliveries.

PARALLEL_FETCHES = 4
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
PARQUET, PARQUET_ENCRYPTED = b"PAR1", b"PARE"
PARQUET_BYTES_MIN = 12
# how Python represents bytes of a name that are not UTF-8; DuckDB cannot open such a file
INVALID_NAME = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _SelectedFile:
    source: StorageSource
    file: SourceFile
    entry: ManifestEntry


def fetch_delivery(
    sources: Sequence[str],
    *,
    spool: Path,
    month: str | None,
    limits: Limits,
    notify: Notify,
    on_selected: Callable[[int], None] = lambda _bytes: None,
    roots: Sequence[str] | None = None,
) -> Delivery:
    """Raise CostFileError unless the sources contain exactly one report of one month.

    `on_selected` receives the size of all selected files before they are fetched.
    Local files are read in place; files from an object store or a zip file are copied into `spool`,
    which the caller must empty. With `roots`, links that lead out of them are refused.
    """
    selected: list[_SelectedFile] = []
    manifests: list[Manifest] = []
    resolved = list(resolve_sources(sources, roots, limits))
    for source in resolved:
        selection = select_delivery_files(source, month=month, limits=limits, notify=notify)
        selected += [_SelectedFile(source.source, file, entry) for file, entry in selection.files]
        manifests += [selection.manifest] if selection.manifest else []
    if manifests and len(resolved) > 1:
        names = ", ".join(source.source.name for source in resolved)
        raise delivery_error(str(manifests[0].path), "several_reports", names)
    if not selected:
        raise delivery_error("", "no_parts")
    if len(selected) > limits.parts_max:
        raise delivery_error(resolved[0].source.name, "too_many_parts", limits.parts_max)
    on_selected(sum(item.file.bytes for item in selected))
    parts = list(_fetch_parts(selected, spool, limits, notify))
    manifest = manifests[0] if manifests else None
    if manifest is None:
        _refuse_duplicate_parts(parts, limits)
    fsync_path(spool)
    return Delivery(
        parts=tuple(parts),
        content_hash=compute_content_hash(part.sha256 for part in parts),
        assembly=manifest.assembly if manifest else None,
        assembled_at=_find_assembly_time(manifest, selected),
        month=manifest.month if manifest else None,
        manifest=str(manifest.path) if manifest else None,
    )


def _find_assembly_time(
    manifest: Manifest | None, selected: Iterable[_SelectedFile]
) -> datetime | None:
    if manifest is not None:
        return manifest.assembled_at
    times = (item.file.modified_at for item in selected if item.file.modified_at)
    return max(times, default=None)


# ── fetching ─────────────────────────────────────────────────────────────────────────────────────


def _fetch_parts(
    selected: Sequence[_SelectedFile], spool: Path, limits: Limits, notify: Notify
) -> Iterator[Part]:
    """Fetch several files in parallel: hashing and copying release the interpreter lock."""
    total = UnpackedSize(limits)
    with ThreadPoolExecutor(PARALLEL_FETCHES) as pool:
        futures = [pool.submit(_fetch, item, spool, number) for number, item in enumerate(selected)]
        try:
            for number, (item, future) in enumerate(zip(selected, futures, strict=True)):
                fetched = future.result()
                notify(
                    f"part {number + 1} of {len(selected)}: {item.file.name}, {fetched.bytes} bytes"
                )
                target = spool / f"{number:05d}"
                yield from _build_parts(item, fetched, target=target, limits=limits, total=total)
        finally:
            for future in futures:
                future.cancel()


def _fetch(item: _SelectedFile, spool: Path, number: int) -> FetchedFile:
    if INVALID_NAME.search(item.file.name):
        raise delivery_error(item.file.name, "file_name")
    try:
        return item.source.fetch(item.file, spool, number)
    except FileNotFoundError:
        raise delivery_error(item.file.name, "changed") from None
    except PermissionError:
        raise delivery_error(item.file.name, "source_denied") from None


def _build_parts(
    item: _SelectedFile, fetched: FetchedFile, *, target: Path, limits: Limits, total: UnpackedSize
) -> Iterable[Part]:
    """Return the file itself, or the members of a zip file, whose paths begin with `target`."""
    name, rows = item.file.name, item.entry.rows
    file_type = _detect_file_type(name, fetched)
    if file_type == "zip":
        members = extract_csv_members(name, fetched.path, target=target, limits=limits, total=total)
        if fetched.path.parent == target.parent:
            fetched.path.unlink()
        if len(members) == 1:
            members = [replace(members[0], rows=rows)]
        return members
    if file_type == "parquet":
        refuse_parquet_bomb(name, fetched.path, size=fetched.bytes, limits=limits, total=total)
    return [Part(name, fetched.path, file_type, fetched.bytes, fetched.sha256, rows)]


def _detect_file_type(name: str, fetched: FetchedFile) -> FileType | Literal["zip"]:
    """The first bytes decide; a name that contradicts them is refused."""
    with fetched.path.open("rb") as file:
        head = file.read(4)
        file.seek(max(fetched.bytes - 4, 0))
        tail = file.read(4)
    lower_name = name.lower()
    if head in (PARQUET, PARQUET_ENCRYPTED):
        if PARQUET_ENCRYPTED in (head, tail):
            raise delivery_error(name, "encrypted")
        if tail != PARQUET or fetched.bytes < PARQUET_BYTES_MIN:
            raise delivery_error(name, "truncated")
        return "parquet"
    if head.startswith(ZIP):
        return "zip"
    if head.startswith(GZIP) or lower_name.endswith(".gz"):
        return "csv.gz"
    for suffix, rule in ((".parquet", "not_parquet"), (".zip", "not_zip")):
        if lower_name.endswith(suffix):
            raise delivery_error(name, rule if fetched.bytes >= len(head) > 3 else "truncated")
    return "csv"


# ── duplicates ───────────────────────────────────────────────────────────────────────────────────


def _refuse_duplicate_parts(parts: Iterable[Part], limits: Limits) -> None:
    """Only a manifest may list the same content twice; files with only a header are harmless."""
    by_digest: dict[str, Part] = {}
    for part in parts:
        first = by_digest.setdefault(part.sha256, part)
        if first is not part and _has_lines(part, limits):
            raise delivery_error(part.name, "same_part_twice", first.name)


def _has_lines(part: Part, limits: Limits) -> bool:
    if part.file_type == "parquet":
        return True
    with open_csv(part, limits) as text:
        header = text.readline(limits.line_bytes_max)
        return is_json(header) or bool(text.read(2).strip())


def refuse_parquet_bomb(
    name: str, path: Path, *, size: int, limits: Limits, total: UnpackedSize
) -> None:
    """Count the file in the `total` of the delivery.

    Ignore a footer that cannot be read: reading the lines reports it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:  # Arrow reports a failed close without its errno
            footer = pq.read_metadata(file)
        groups = (footer.row_group(number) for number in range(footer.num_row_groups))
        uncompressed = sum(max(group.total_byte_size, 0) for group in groups)
        rows = footer.num_rows
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # the disk failed; a file that is not checked must not be read
        return
    if rows > ROWS_MIN and rows > size:
        raise delivery_error(name, "bomb", "very many")
    if uncompressed > limits.part_bytes_max:
        raise delivery_error(name, "too_large", limits.part_bytes_max)
    if uncompressed > limits.bomb_bytes_min and uncompressed > size * limits.bomb_ratio_max:
        raise delivery_error(name, "bomb", f"more than {limits.bomb_ratio_max}")
    total.add_file(size)
    total.add_content(name, uncompressed, rows=rows)
