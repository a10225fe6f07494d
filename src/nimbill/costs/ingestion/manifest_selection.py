"""Which files of a place are the delivery: those the newest manifest names, or all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nimbill.costs.ingestion.decompression import small_content
from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.manifests import (
    COSTS_OF_AZURE,
    Listed,
    Manifest,
    is_manifest,
    month_in,
    names_of,
    read_manifest,
)
from nimbill.costs.ingestion.named_sources import Look
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.storage_sources import Found, StorageSource
from nimbill.foundation.basis import chosen

basis = chosen("deliveries")

COST_FILES = (".csv", ".csv.gz", ".gz", ".zip", ".parquet")
_VERSION = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a run or an assembly
    r"|\d{8}T\d{6}Z|\d{4}-\d{2}-\d{2}T[^/]*",  # or the moment of one
    re.ASCII | re.IGNORECASE,
)

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Choice:
    """The files that count, in the manifest's order, and the manifest."""

    files: tuple[tuple[Found, Listed], ...]
    manifest: Manifest | None


def chosen_parts(look: Look, *, month: str | None, limits: Limits, tell: Tell) -> Choice:
    """What is to be imported from there, one report of one month."""
    files = look.place.files()
    if look.only is not None:
        at = [file for file in files if file.name == look.only]
    else:
        at = [f for f in files if is_manifest(f.at) and _may_be_of(f.at.parts, month)]
    data = [f for f in files if not is_manifest(f.at) and (look.all_named or _is_cost_file(f.at))]
    if not at:
        return Choice(_without_manifest(look.place.name, data, month), None)
    read = [_read(look.place, file, limits) for file in at]
    manifest = _deciding(look.place.name, read, month)
    parts = _resolved(manifest, data, limits)
    _tell_of_others(parts, data, all_named=look.all_named, tell=tell)
    return Choice(parts, manifest)


def _is_cost_file(at: PurePosixPath) -> bool:
    return at.name.lower().endswith(COST_FILES)


def _read(place: StorageSource, file: Found, limits: Limits) -> Manifest:
    with place.open(file) as stream:
        content = small_content(file.name, stream, bytes_max=limits.manifest_bytes_max)
    return read_manifest(file.at, content, written=file.written)


def _may_be_of(names: Sequence[str], month: str | None) -> bool:
    return month is None or month_in(names[:-1]) in (None, month)


# ── the manifest that decides ────────────────────────────────────────────────────────────────────


def _deciding(place: str, manifests: Sequence[Manifest], month: str | None) -> Manifest:
    of_costs = _of_actual_costs(manifests)
    of_month = [m for m in of_costs if month is None or m.month in (None, month)]
    months = sorted({m.month or "an unknown month" for m in of_costs})
    if not of_month:
        raise refused(place, "month_absent", month, ", ".join(months))
    if len({m.month for m in of_month}) > 1:
        raise refused(place, "several_months", ", ".join(months))
    reports = sorted({m.report for m in of_month})
    if len(reports) > 1:
        raise refused(place, "several_reports", ", ".join(reports))
    return _newest(place, of_month)


def _of_actual_costs(manifests: Sequence[Manifest]) -> Sequence[Manifest]:
    """An amortised export beside the actual one is another telling of the same costs."""
    actual = [m for m in manifests if m.holds in COSTS_OF_AZURE]
    if actual:
        return actual
    if any(m.amortised for m in manifests):
        raise refused(str(manifests[0].at), "amortised")
    raise refused(
        str(manifests[0].at), "not_costs", ", ".join(sorted({m.holds for m in manifests}))
    )


def _newest(place: str, manifests: Sequence[Manifest]) -> Manifest:
    current = [m for m in manifests if m.of_the_period] or manifests
    if len({_version(m) for m in current}) == 1:
        return min(current, key=lambda m: (len(m.at.parts), m.at))
    moments = [m.assembled_at for m in current if m.assembled_at is not None]
    newest = [m for m in current if moments and m.assembled_at == max(moments)]
    if len(moments) < len(current) or len({_version(m) for m in newest}) > 1:
        raise refused(place, "several_assemblies", ", ".join(sorted(map(_version, current))))
    return newest[0]


def _version(manifest: Manifest) -> str:
    return manifest.assembly or str(manifest.at.parent)


# ── the parts it names ───────────────────────────────────────────────────────────────────────────


def _resolved(
    manifest: Manifest, data: Iterable[Found], limits: Limits
) -> tuple[tuple[Found, Listed], ...]:
    if not manifest.listed:
        raise refused(str(manifest.at), "no_parts")
    if len(manifest.listed) > limits.parts_max:
        raise refused(str(manifest.at), "too_many_parts", limits.parts_max)
    by_name: defaultdict[str, list[Found]] = defaultdict(list)
    for file in data:
        by_name[file.at.name].append(file)
    parts: dict[str, tuple[Found, Listed]] = {}
    for listed in manifest.listed:
        file = _meant(manifest, listed, by_name)
        if file.key in parts:
            raise refused(file.name, "same_part_twice", "itself: the manifest names it twice")
        if listed.bytes is not None and listed.bytes != file.bytes:
            raise refused(file.name, "part_size", file.bytes, listed.bytes)
        parts[file.key] = (file, listed)
    return tuple(parts.values())


def _meant(manifest: Manifest, listed: Listed, by_name: Mapping[str, list[Found]]) -> Found:
    """Keys are those of the vendor's bucket; here it may lie deeper, or only in part."""
    names = names_of(listed.key)
    fits = [(fit, file) for file in by_name.get(names[-1] if names else "", ())
            if (fit := _fit(manifest, names, file.at.parts))]  # fmt: skip
    best = [file for fit, file in fits if fit == max(fits, key=lambda one: one[0])[0]]
    if not best:
        raise refused(str(manifest.at), "part_missing", listed.key[-60:])
    if len(best) > 1:
        raise refused(str(manifest.at), "part_ambiguous", listed.key[-60:])
    return best[0]


def _fit(manifest: Manifest, key: Sequence[str], at: Sequence[str]) -> int:
    """How many names at their ends agree; 0 unless one lies where the other says.

    That is: the whole key ends the path, or the whole path ends the key, counted from some folder
    that the manifest lies in. Otherwise a part of an older version would do for a newer one.
    """
    same = 0
    while same < min(len(key), len(at)) and key[-1 - same] == at[-1 - same]:
        same += 1
    folder = manifest.at.parts[:-1]
    shared = 0
    while shared < min(len(folder), len(at) - 1) and folder[shared] == at[shared]:
        shared += 1
    return same if same == len(key) or len(at) - same <= shared else 0


def _tell_of_others(
    parts: Iterable[tuple[Found, Listed]], data: Iterable[Found], *, all_named: bool, tell: Tell
) -> None:
    taken = {file.key for file, _ in parts}
    others = [file for file in data if file.key not in taken]
    if others and all_named:
        raise refused(others[0].name, "part_unlisted")
    if others:
        tell(f"{len(others)} other files lie there that the manifest does not name")


# ── without a manifest ───────────────────────────────────────────────────────────────────────────


def _without_manifest(
    place: str, data: Sequence[Found], month: str | None
) -> tuple[tuple[Found, Listed], ...]:
    of_month = [file for file in data if _may_be_of(file.at.parts, month)]
    if not of_month:
        raise refused(place, "no_parts")
    months = sorted({told for file in of_month if (told := month_in(file.at.parts[:-1]))})
    if len(months) > 1:
        raise refused(place, "several_months", ", ".join(months))
    versions = sorted({version for file in of_month if (version := _version_in(file.at))})
    if len(versions) > 1:
        raise refused(place, "several_assemblies", ", ".join(versions))
    _refuse_two_forms_of_one(of_month)
    return tuple((file, Listed(file.name)) for file in of_month)


def _refuse_two_forms_of_one(files: Iterable[Found]) -> None:
    met: dict[PurePosixPath, Found] = {}
    for file in files:
        stem = file.at.name.lower()
        for ending in (".gz", ".zip", ".parquet", ".snappy", ".csv"):
            stem = stem.removesuffix(ending)
        before = met.setdefault(file.at.with_name(stem or "."), file)
        if before is not file:
            raise refused(file.name, "same_part_twice", before.name)


def _version_in(at: PurePosixPath) -> str | None:
    return next((name for name in reversed(at.parts[:-1]) if _VERSION.fullmatch(name)), None)
