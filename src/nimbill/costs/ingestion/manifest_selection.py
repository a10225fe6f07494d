"""Selects the files of a delivery: those in the newest manifest, or all files without one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nimbill.costs.ingestion.decompression import read_small_file
from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.manifests import (
    AZURE_COST_TYPES,
    Manifest,
    ManifestEntry,
    find_month,
    is_manifest,
    read_manifest,
    split_key,
)
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.source_resolution import SourceSelection
from nimbill.costs.ingestion.storage_sources import SourceFile, StorageSource

# See docs/choices.md, cost-deliveries.

UNNAMED_FILE, UNNAMED_REPORT = "a file without a name", "a report without a name"
COST_FILE_SUFFIXES = (".csv", ".csv.gz", ".gz", ".zip", ".parquet")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")  # beside other cost files they are something else
_VERSION = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # id of a run or an assembly
    r"|\d{8}T\d{6}Z|\d{4}-\d{2}-\d{2}T[^/]*",  # or its time
    re.ASCII | re.IGNORECASE,
)

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DeliverySelection:
    """The files to import, in the order of the manifest."""

    files: tuple[tuple[SourceFile, ManifestEntry], ...]
    manifest: Manifest | None


def select_delivery_files(
    selection: SourceSelection, *, month: str | None, limits: Limits, notify: Notify
) -> DeliverySelection:
    """Select one report of one month."""
    source, files = selection.source, selection.source.list_files()
    if selection.manifest_name is not None:
        manifest_files = [file for file in files if file.name == selection.manifest_name]
    else:
        manifest_files = [
            file for file in files if is_manifest(file.path) and _may_be_month(file, month)
        ]
    others = [file for file in files if not is_manifest(file.path)]
    cost_files = others if selection.explicit_files else _list_cost_files(others)
    if not manifest_files:
        return DeliverySelection(_select_without_manifest(source.name, cost_files, month), None)
    manifests = [_load_manifest(source, file, limits) for file in manifest_files]
    manifest = _select_manifest(source.name, manifests, month)
    parts = _resolve_entries(manifest, cost_files, limits)
    _report_unlisted_files(
        parts, cost_files, explicit_files=selection.explicit_files, notify=notify
    )
    return DeliverySelection(parts, manifest)


def _list_cost_files(files: Sequence[SourceFile]) -> list[SourceFile]:
    return _list_ending(files, COST_FILE_SUFFIXES) or _list_ending(files, JSON_SUFFIXES)


def _list_ending(files: Sequence[SourceFile], suffixes: tuple[str, ...]) -> list[SourceFile]:
    return [file for file in files if file.path.name.lower().endswith(suffixes)]


def _load_manifest(source: StorageSource, file: SourceFile, limits: Limits) -> Manifest:
    with source.open(file) as stream:
        content = read_small_file(file.name, stream, bytes_max=limits.manifest_bytes_max)
    return read_manifest(file.path, content, modified_at=file.modified_at)


def _may_be_month(file: SourceFile, month: str | None) -> bool:
    return month is None or find_month(file.path.parts[:-1]) in (None, month)


# ── selecting the manifest ───────────────────────────────────────────────────────────────────────


def _select_manifest(source: str, manifests: Sequence[Manifest], month: str | None) -> Manifest:
    cost_manifests = _filter_actual_costs(manifests)
    candidates = [m for m in cost_manifests if month is None or m.month in (None, month)]
    months = sorted({m.month or "an unknown month" for m in cost_manifests})
    if not candidates:
        raise delivery_error(source, "month_absent", month, ", ".join(months))
    if len({m.month for m in candidates}) > 1:
        raise delivery_error(source, "several_months", ", ".join(months))
    reports = sorted({m.report or UNNAMED_REPORT for m in candidates})
    if len(reports) > 1:
        raise delivery_error(source, "several_reports", ", ".join(reports))
    return _select_newest(source, candidates)


def _filter_actual_costs(manifests: Sequence[Manifest]) -> Sequence[Manifest]:
    """Ignore an amortised export beside the actual one: it contains the same costs again."""
    actual = [m for m in manifests if m.export_type in AZURE_COST_TYPES]
    if actual:
        return actual
    if any(m.amortised for m in manifests):
        raise delivery_error(str(manifests[0].path), "amortised")
    types = ", ".join(sorted({m.export_type for m in manifests}))
    raise delivery_error(str(manifests[0].path), "not_costs", types)


def _select_newest(source: str, manifests: Sequence[Manifest]) -> Manifest:
    current = [m for m in manifests if m.is_period_manifest] or manifests
    if len({_version(m) for m in current}) == 1:
        return min(current, key=lambda m: (len(m.path.parts), m.path))
    times = [m.assembled_at for m in current if m.assembled_at is not None]
    newest = [m for m in current if times and m.assembled_at == max(times)]
    if len(times) < len(current) or len({_version(m) for m in newest}) > 1:
        raise delivery_error(
            source, "several_assemblies", ", ".join(sorted(map(_version, current)))
        )
    return newest[0]


def _version(manifest: Manifest) -> str:
    return manifest.assembly or str(manifest.path.parent)


# ── finding the files of its entries ─────────────────────────────────────────────────────────────


def _resolve_entries(
    manifest: Manifest, cost_files: Iterable[SourceFile], limits: Limits
) -> tuple[tuple[SourceFile, ManifestEntry], ...]:
    if not manifest.entries:
        raise delivery_error(str(manifest.path), "no_parts")
    if len(manifest.entries) > limits.parts_max:
        raise delivery_error(str(manifest.path), "too_many_parts", limits.parts_max)
    by_name: defaultdict[str, list[SourceFile]] = defaultdict(list)
    for file in cost_files:
        by_name[file.path.name].append(file)
    parts: dict[str, tuple[SourceFile, ManifestEntry]] = {}
    for entry in manifest.entries:
        file = _find_file(manifest, entry, by_name)
        if file.key in parts:
            raise delivery_error(file.name, "same_part_twice", "an earlier entry of the manifest")
        if entry.bytes is not None and entry.bytes != file.bytes:
            raise delivery_error(file.name, "part_size", file.bytes, entry.bytes)
        parts[file.key] = (file, entry)
    return tuple(parts.values())


def _find_file(
    manifest: Manifest, entry: ManifestEntry, by_name: Mapping[str, list[SourceFile]]
) -> SourceFile:
    """Keys refer to the vendor's bucket; the source may be a copy of all or a part of it."""
    names = split_key(entry.key)
    matches = [
        (length, file)
        for file in by_name.get(names[-1] if names else "", ())
        if (length := _match_length(manifest, names, file.path.parts))
    ]
    longest = max((length for length, _ in matches), default=0)
    best = [file for length, file in matches if length == longest]
    if not best:
        raise delivery_error(str(manifest.path), "part_missing", entry.key[-60:] or UNNAMED_FILE)
    if len(best) > 1:
        raise delivery_error(str(manifest.path), "part_ambiguous", entry.key[-60:])
    return best[0]


def _match_length(manifest: Manifest, key: Sequence[str], path: Sequence[str]) -> int:
    """Return how many names at the ends of key and path are equal; 0 if they do not match.

    They match if the complete key ends the path, or if the path, counted from some folder that
    contains the manifest, ends the key. Otherwise a part of an older version would be used for a
    newer one.
    """
    equal = 0
    while equal < min(len(key), len(path)) and key[-1 - equal] == path[-1 - equal]:
        equal += 1
    folder = manifest.path.parts[:-1]
    shared = 0
    while shared < min(len(folder), len(path) - 1) and folder[shared] == path[shared]:
        shared += 1
    return equal if equal == len(key) or len(path) - equal <= shared else 0


def _report_unlisted_files(
    parts: Iterable[tuple[SourceFile, ManifestEntry]],
    cost_files: Iterable[SourceFile],
    *,
    explicit_files: bool,
    notify: Notify,
) -> None:
    selected = {file.key for file, _ in parts}
    others = [file for file in cost_files if file.key not in selected]
    if others and explicit_files:
        raise delivery_error(others[0].name, "part_unlisted")
    if others:
        notify(f"Ignoring {len(others)} files that the manifest does not list")


# ── without a manifest ───────────────────────────────────────────────────────────────────────────


def _select_without_manifest(
    source: str, cost_files: Sequence[SourceFile], month: str | None
) -> tuple[tuple[SourceFile, ManifestEntry], ...]:
    files = [file for file in cost_files if _may_be_month(file, month)]
    if not files:
        raise delivery_error(source, "no_parts")
    months = sorted({name for file in files if (name := find_month(file.path.parts[:-1]))})
    if len(months) > 1:
        raise delivery_error(source, "several_months", ", ".join(months))
    versions = sorted({version for file in files if (version := _find_version(file.path))})
    if len(versions) > 1:
        raise delivery_error(source, "several_assemblies", ", ".join(versions))
    _refuse_duplicate_formats(files)
    return tuple((file, ManifestEntry(file.name)) for file in files)


def _refuse_duplicate_formats(files: Iterable[SourceFile]) -> None:
    """Refuse `a.csv` beside `a.csv.gz`: both contain the same lines."""
    by_stem: dict[PurePosixPath, SourceFile] = {}
    for file in files:
        stem = file.path.name.lower()
        for suffix in (".gz", ".zip", ".parquet", ".snappy", ".csv", *JSON_SUFFIXES):
            stem = stem.removesuffix(suffix)
        first = by_stem.setdefault(file.path.with_name(stem or "."), file)
        if first is not file:
            raise delivery_error(file.name, "same_part_twice", first.name)


def _find_version(path: PurePosixPath) -> str | None:
    return next((name for name in reversed(path.parts[:-1]) if _VERSION.fullmatch(name)), None)
