"""Reads the vendors' manifests: the parts, month and version of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

import msgspec

from nimbill.costs.ingestion.delivery_errors import delivery_error

# See docs/choices.md, cost-deliveries.

AZURE_COST_TYPES = frozenset({"actualcost", "focuscost", "usage", ""})
AMORTISED = "amortizedcost"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A part listed in a manifest; size and number of rows are optional."""

    key: str
    bytes: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    path: PurePosixPath
    report: str
    export_type: str  # Azure's name in lower case, for example "actualcost"; "" for AWS
    assembly: str | None  # the version of the report
    assembled_at: datetime | None
    month: str | None
    entries: tuple[ManifestEntry, ...]

    @property
    def amortised(self) -> bool:
        return self.export_type == AMORTISED

    @property
    def is_period_manifest(self) -> bool:
        """AWS overwrites this manifest with every version; each version keeps another copy."""
        return self.assembly is None or self.assembly not in self.path.parts[:-1]


def is_manifest(path: PurePosixPath) -> bool:
    return path.name.lower().endswith(("manifest.json", "manifest.json.gz"))


def read_manifest(path: PurePosixPath, content: bytes, *, modified_at: datetime | None) -> Manifest:
    """`modified_at` is the upload time in an object store, used if the manifest names no time."""
    try:
        document = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_ManifestJson)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise delivery_error(path.name, "manifest", "it is not valid manifest JSON") from None
    if document.report_keys is None and document.data_files is None and document.blobs is None:
        raise delivery_error(
            path.name, "manifest", "it has none of reportKeys, dataFiles and blobs"
        )
    build = _build_azure_manifest if document.blobs is not None else _build_aws_manifest
    manifest = build(path, document, modified_at)
    if "\0" in manifest.report + (manifest.assembly or ""):
        raise delivery_error(path.name, "manifest", "it contains a NUL character")
    return manifest


# ── JSON documents ───────────────────────────────────────────────────────────────────────────────


class _Period(msgspec.Struct, rename="camel"):
    start: str = ""


class _Blob(msgspec.Struct, rename="camel"):
    blob_name: str
    byte_count: int | None = None
    data_row_count: int | None = None


class _ExportConfig(msgspec.Struct, rename="camel"):
    export_name: str | None = None
    type: str | None = None


class _RunInfo(msgspec.Struct, rename="camel"):
    submitted_time: str | None = None
    run_id: str | None = None
    start_date: str | None = None
    end_date: str | None = None


class _ManifestJson(msgspec.Struct, rename="camel"):
    """All three kinds of manifest; each kind has its own list of files."""

    # AWS
    assembly_id: str | None = None
    execution_id: str | None = None
    report_name: str | None = None
    export_arn: str | None = None
    billing_period: _Period | None = None
    report_keys: list[str] | None = None  # legacy
    data_files: list[str] | None = None  # 2.0
    # Azure
    blob_count: int | None = None
    blobs: list[_Blob] | None = None
    export_config: _ExportConfig | None = None
    run_info: _RunInfo | None = None


def _build_aws_manifest(
    path: PurePosixPath, document: _ManifestJson, modified_at: datetime | None
) -> Manifest:
    keys = document.report_keys if document.report_keys is not None else document.data_files or []
    assembly = document.assembly_id or document.execution_id
    period_start = document.billing_period.start if document.billing_period else ""
    first_key_names = [name for key in keys[:1] for name in reversed(split_key(key))]
    times = map(parse_version_time, [assembly or "", *first_key_names])
    months = [find_month(split_key(key)) for key in keys]
    return Manifest(
        path=path,
        report=document.report_name or document.export_arn or "",
        export_type="",
        assembly=assembly,
        assembled_at=next(filter(None, times), modified_at),
        month=_parse_period_month(period_start) or _require_single_month(path, months),
        entries=tuple(ManifestEntry(key) for key in keys),
    )


def _build_azure_manifest(
    path: PurePosixPath, document: _ManifestJson, modified_at: datetime | None
) -> Manifest:
    run, export = document.run_info or _RunInfo(), document.export_config or _ExportConfig()
    blobs = document.blobs or []
    if document.blob_count is not None and document.blob_count != len(blobs):
        raise delivery_error(
            path.name, "manifest", f"it lists {len(blobs)} of {document.blob_count} blobs"
        )
    month = _parse_run_month(run)
    if run.start_date is None:
        month = _require_single_month(
            path, [find_month(split_key(blob.blob_name)) for blob in blobs]
        )
    return Manifest(
        path=path,
        report=export.export_name or "",
        export_type=(export.type or "").lower(),
        assembly=run.run_id,
        assembled_at=parse_version_time(run.submitted_time or "") or modified_at,
        month=month,
        entries=tuple(ManifestEntry(b.blob_name, b.byte_count, b.data_row_count) for b in blobs),
    )


def _parse_run_month(run: _RunInfo) -> str | None:
    """None if the run covers more than a month; its end may be the first of the next month."""
    start, end = (_DATE.match(date or "") for date in (run.start_date, run.end_date))
    if not start or not end or ((start[1], start[2]) != (end[1], end[2]) and end[3] != "01"):
        return None
    return _format_month(start[1], start[2])


# ── times and months in names ────────────────────────────────────────────────────────────────────

_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(?:\.\d+)?Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?Z", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_PERIOD = re.compile(r"(\d{4})(\d{2})\d{2}-\d{8}", re.ASCII)
_PARTITION = re.compile(r"BILLING_PERIOD=(\d{4})-(\d{2})", re.ASCII)
_YEAR, _MONTH = re.compile(r"year=(\d{4})"), re.compile(r"month=(\d{1,2})")


def parse_version_time(name: str) -> datetime | None:
    """The vendors name the versions of a report by their time."""
    match = _COMPACT.match(name) or _ISO.match(name)
    try:
        return datetime(*map(int, match.groups()), tzinfo=UTC) if match else None  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def find_month(names: Sequence[str]) -> str | None:
    """Return the billing month in the names of folders; the innermost folder takes precedence."""
    for position in reversed(range(len(names))):
        period = _PERIOD.fullmatch(names[position]) or _PARTITION.fullmatch(names[position])
        if period:
            return _format_month(period[1], period[2])
        month = _MONTH.fullmatch(names[position])
        year = _YEAR.fullmatch(names[position - 1]) if month and position else None
        if month and year:
            return _format_month(year[1], month[1].zfill(2))
    return None


def _parse_period_month(start: str) -> str | None:
    return _format_month(start[:4], start[4:6]) if _COMPACT.match(start) else None


def _format_month(year: str, month: str) -> str | None:
    return f"{year}-{month}" if "01" <= month <= "12" else None


def _require_single_month(path: PurePosixPath, months: Sequence[str | None]) -> str | None:
    distinct = sorted({month for month in months if month})
    if len(distinct) > 1:
        raise delivery_error(path.name, "several_months", ", ".join(distinct))
    return distinct[0] if distinct else find_month(path.parts[:-1])


def split_key(key: str) -> tuple[str, ...]:
    """Split an object key into its names, without scheme and bucket."""
    scheme, separator, rest = key.partition("://")
    path = rest.partition("/")[2] if separator and "/" not in scheme else key
    return tuple(name for name in path.split("/") if name)
