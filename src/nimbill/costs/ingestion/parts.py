"""A fetched delivery: its parts, their digests, and the limits on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

FileType = Literal["csv", "csv.gz", "parquet"]

KIB = 2**10
MIB = 2**20
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on a delivery; the defaults are far above any real month."""

    parts_max: int = 10_000
    source_files_max: int = 100_000  # files in the folder or prefix that is searched
    manifest_bytes_max: int = 16 * MIB
    zip_members_max: int = 200
    part_bytes_max: int = 64 * GIB  # decompressed
    delivery_bytes_max: int = 512 * GIB  # of all parts together, decompressed
    line_bytes_max: int = 4 * MIB
    value_bytes_max: int = 64 * KIB
    # text in one batch of a Parquet file; its dictionaries may repeat a long value in every line
    batch_text_bytes_max: int = 256 * MIB
    # a file or delivery is a decompression bomb if it exceeds both this size and this ratio
    bomb_bytes_min: int = 100_000_000
    bomb_ratio_max: int = 250


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the delivery; `name` is for messages, `path` is where it is read."""

    name: str
    path: Path
    file_type: FileType
    bytes: int
    sha256: str  # of the bytes at `path`
    rows: int | None = None  # as listed in the manifest, without the header


@dataclass(frozen=True, slots=True)
class Delivery:
    """All parts of one report of one month."""

    parts: tuple[Part, ...]
    content_hash: str
    assembly: str | None
    assembled_at: datetime | None  # from a manifest or an object store, never from a local file
    month: str | None  # None if no manifest names it
    manifest: str | None


def compute_content_hash(digests: Iterable[str]) -> str:
    """Deliveries with the same contents are identical, whatever the names and folders."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
