"""What a vendor delivered, had here: parts and their digests, wherever they came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.decompression import GZIP, blocks_of_csv, open_csv
from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.manifest_selection import Tell, chosen_parts
from nimbill.costs.ingestion.manifests import Listed, Manifest
from nimbill.costs.ingestion.named_sources import places_of
from nimbill.costs.ingestion.parquet_footers import refuse_parquet_bomb
from nimbill.costs.ingestion.parts import Delivery, Form, Limits, Part, identity_of
from nimbill.costs.ingestion.storage_sources import FetchedFile, Found, StorageSource
from nimbill.costs.ingestion.zip_members import csv_members
from nimbill.foundation.basis import chosen
from nimbill.foundation.fsync import fsync_path

__all__ = ["CostFileError", "Delivery", "Limits", "Part", "blocks_of_csv", "deliver", "open_csv"]

basis = chosen("deliveries")

AT_ONCE = 4
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
PARQUET, PARQUET_ENCRYPTED = b"PAR1", b"PARE"
PARQUET_BYTES_MIN = 12


@dataclass(frozen=True, slots=True)
class _Wanted:
    place: StorageSource
    file: Found
    listed: Listed


def deliver(
    sources: Sequence[str],
    *,
    spool: Path,
    month: str | None,
    limits: Limits,
    tell: Tell,
    roots: Sequence[str] | None = None,
) -> Delivery:
    """The parts of one report, ready to be read; Broken where that is not what is there.

    Local files stay where they are; what comes out of an object store or a zip file is in `spool`,
    which is the caller's to empty. With `roots`, links that lead out of them are refused.
    """
    wanted: list[_Wanted] = []
    manifests: list[Manifest] = []
    places = list(places_of(sources, roots, limits))
    for look in places:
        choice = chosen_parts(look, month=month, limits=limits, tell=tell)
        wanted += [_Wanted(look.place, file, listed) for file, listed in choice.files]
        manifests += [choice.manifest] if choice.manifest else []
    if manifests and len(places) > 1:
        names = ", ".join(look.place.name for look in places)
        raise refused(str(manifests[0].at), "several_reports", names)
    if not wanted:
        raise refused("", "no_parts")
    if len(wanted) > limits.parts_max:
        raise refused(places[0].place.name, "too_many_parts", limits.parts_max)
    parts = list(_brought(wanted, spool, limits, tell))
    manifest = manifests[0] if manifests else None
    if manifest is None:
        _refuse_the_same_twice(parts, limits)
    fsync_path(spool)
    return Delivery(
        parts=tuple(parts),
        identity=identity_of(part.sha256 for part in parts),
        assembly=manifest.assembly if manifest else None,
        assembled_at=_assembled_at(manifest, wanted),
        month=manifest.month if manifest else None,
        manifest=str(manifest.at) if manifest else None,
    )


def _assembled_at(manifest: Manifest | None, wanted: Iterable[_Wanted]) -> datetime | None:
    if manifest is not None:
        return manifest.assembled_at
    return max((one.file.written for one in wanted if one.file.written), default=None)


# ── having them here ─────────────────────────────────────────────────────────────────────────────


def _brought(wanted: Sequence[_Wanted], spool: Path, limits: Limits, tell: Tell) -> Iterator[Part]:
    """A few at once: hashing and copying leave the interpreter to others."""
    with ThreadPoolExecutor(AT_ONCE) as workers:
        coming = [workers.submit(_bring, one, spool, number) for number, one in enumerate(wanted)]
        try:
            for number, (one, future) in enumerate(zip(wanted, coming, strict=True)):
                here = future.result()
                tell(f"part {number + 1} of {len(wanted)}: {one.file.name}, {here.bytes} bytes")
                yield from _parts(one, here, spool=spool, number=number, limits=limits)
        finally:
            for future in coming:
                future.cancel()


def _bring(one: _Wanted, spool: Path, number: int) -> FetchedFile:
    try:
        return one.place.bring(one.file, spool, number)
    except FileNotFoundError:
        raise refused(one.file.name, "changed") from None
    except PermissionError:
        raise refused(one.file.name, "source_denied") from None


def _parts(
    one: _Wanted, here: FetchedFile, *, spool: Path, number: int, limits: Limits
) -> Iterable[Part]:
    """The one file, or the members of a zip file."""
    name = one.file.name
    form = _form(name, here)
    if form == "zip":
        members = csv_members(name, here.path, spool=spool, number=number, limits=limits)
        if here.path.parent == spool:
            here.path.unlink()
        if len(members) == 1:
            members = [replace(members[0], rows=one.listed.rows)]
        return members
    if form == "parquet":
        refuse_parquet_bomb(name, here.path, size=here.bytes, limits=limits)
    return [Part(name, here.path, form, here.bytes, here.sha256, one.listed.rows)]


def _form(name: str, here: FetchedFile) -> Form | Literal["zip"]:
    """What it is shows in its first bytes; a name that says otherwise is refused."""
    with here.path.open("rb") as file:
        head = file.read(4)
        file.seek(max(here.bytes - 4, 0))
        tail = file.read(4)
    lowered = name.lower()
    if head in (PARQUET, PARQUET_ENCRYPTED):
        if PARQUET_ENCRYPTED in (head, tail):
            raise refused(name, "encrypted")
        if tail != PARQUET or here.bytes < PARQUET_BYTES_MIN:
            raise refused(name, "truncated")
        return "parquet"
    if head.startswith(ZIP):
        return "zip"
    if head.startswith(GZIP) or lowered.endswith(".gz"):
        return "csv.gz"
    for ending, rule in ((".parquet", "not_parquet"), (".zip", "not_zip")):
        if lowered.endswith(ending):
            raise refused(name, rule if here.bytes >= len(head) > 3 else "truncated")
    return "csv"


# ── once and not twice ───────────────────────────────────────────────────────────────────────────


def _refuse_the_same_twice(parts: Iterable[Part], limits: Limits) -> None:
    """Without a manifest nobody vouches for it; a header alone may come any number of times."""
    met: dict[str, Part] = {}
    for part in parts:
        before = met.setdefault(part.sha256, part)
        if before is not part and _has_lines(part, limits):
            raise refused(part.name, "same_part_twice", before.name)


def _has_lines(part: Part, limits: Limits) -> bool:
    if part.form == "parquet":
        return True
    with open_csv(part, limits) as text:
        text.readline(limits.line_bytes_max)
        return bool(text.read(2).strip())
