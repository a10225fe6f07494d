"""What a delivery is once it is here: its parts, each with its digest, and the limits on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

Form = Literal["csv", "csv.gz", "parquet"]

MIB = 2**20
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """What a delivery may not exceed; the defaults are far above any real month."""

    parts_max: int = 10_000
    listed_max: int = 100_000  # files that lie where the delivery is looked for
    manifest_bytes_max: int = 16 * MIB
    part_bytes_max: int = 64 * GIB  # decompressed
    line_bytes_max: int = 4 * MIB
    # a bomb is more than so much, out of so many times less
    bomb_bytes_min: int = 100_000_000
    bomb_ratio_max: int = 250


@dataclass(frozen=True, slots=True)
class Part:
    """A file of the delivery; its name is for people, its path is where it is read."""

    name: str
    path: Path
    form: Form
    bytes: int
    sha256: str  # of the bytes at `path`
    rows: int | None = None  # without the header, where the manifest tells


@dataclass(frozen=True, slots=True)
class Delivery:
    """All parts of one report of one month, as far as the manifest says which month that is."""

    parts: tuple[Part, ...]
    identity: str
    assembly: str | None
    assembled_at: datetime | None  # of a manifest or an object store, never of a local file
    month: str | None
    manifest: str | None


def identity_of(digests: Iterable[str]) -> str:
    """The same content is the same delivery, whatever the parts are called and how they lie."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
