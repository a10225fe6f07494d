"""What the vendors' manifests say: which parts, of which month, of which version of the report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

import msgspec

from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.foundation.basis import chosen

basis = chosen("deliveries")

COSTS_OF_AZURE = frozenset({"actualcost", "focuscost", "usage", ""})
AMORTISED = "amortizedcost"


@dataclass(frozen=True, slots=True)
class Listed:
    """A part as the manifest names it; size and rows where it tells them."""

    key: str
    bytes: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    at: PurePosixPath
    report: str
    holds: str  # the vendor's word for what the export holds, in lower case; "" where it has none
    assembly: str | None
    assembled_at: datetime | None
    month: str | None
    listed: tuple[Listed, ...]

    @property
    def amortised(self) -> bool:
        return self.holds == AMORTISED

    @property
    def of_the_period(self) -> bool:
        """Not one kept with its version of the report: it always names the current one."""
        return self.assembly is None or self.assembly not in self.at.parts[:-1]


def is_manifest(at: PurePosixPath) -> bool:
    return at.name.lower().endswith(("manifest.json", "manifest.json.gz"))


def read_manifest(at: PurePosixPath, content: bytes, *, written: datetime | None) -> Manifest:
    """The manifest, or Broken; `written` is when an object store took it in."""
    try:
        said = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_Said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise refused(at.name, "manifest", "it is not the JSON of a manifest") from None
    if said.report_keys is None and said.data_files is None and said.blobs is None:
        raise refused(at.name, "manifest", "it has none of reportKeys, dataFiles and blobs")
    return _of_azure(at, said, written) if said.blobs is not None else _of_aws(at, said, written)


# ── as they are written ──────────────────────────────────────────────────────────────────────────


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


class _Said(msgspec.Struct, rename="camel"):
    """The three kinds together; which one it is shows in which list of files it has."""

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


def _of_aws(at: PurePosixPath, said: _Said, written: datetime | None) -> Manifest:
    keys = said.report_keys if said.report_keys is not None else said.data_files or []
    assembly = said.assembly_id or said.execution_id
    period = said.billing_period.start if said.billing_period else ""
    told = [assembly or "", *(part for key in keys[:1] for part in reversed(names_of(key)))]
    return Manifest(
        at=at,
        report=said.report_name or said.export_arn or "",
        holds="",
        assembly=assembly,
        assembled_at=next(filter(None, map(moment_in, told)), written),
        month=_month_of_period(period) or _one_month(at, [month_in(names_of(key)) for key in keys]),
        listed=tuple(Listed(key) for key in keys),
    )


def _of_azure(at: PurePosixPath, said: _Said, written: datetime | None) -> Manifest:
    run, export = said.run_info or _RunInfo(), said.export_config or _ExportConfig()
    blobs = said.blobs or []
    if said.blob_count is not None and said.blob_count != len(blobs):
        raise refused(at.name, "manifest", f"it names {len(blobs)} of {said.blob_count} blobs")
    month = _month_of_run(run)
    if run.start_date is None:
        month = _one_month(at, [month_in(names_of(blob.blob_name)) for blob in blobs])
    return Manifest(
        at=at,
        report=export.export_name or "",
        holds=(export.type or "").lower(),
        assembly=run.run_id,
        assembled_at=moment_in(run.submitted_time or "") or written,
        month=month,
        listed=tuple(Listed(b.blob_name, b.byte_count, b.data_row_count) for b in blobs),
    )


def _month_of_run(run: _RunInfo) -> str | None:
    """None where it covers more than a month; its end may be the first of the next."""
    start, end = (_DATE.match(date or "") for date in (run.start_date, run.end_date))
    if not start or not end or ((start[1], start[2]) != (end[1], end[2]) and end[3] != "01"):
        return None
    return _sound_month(start[1], start[2])


# ── what stands in names ─────────────────────────────────────────────────────────────────────────

_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(?:\.\d+)?Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?Z", re.ASCII)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_PERIOD = re.compile(r"(\d{4})(\d{2})\d{2}-\d{8}", re.ASCII)
_PARTITION = re.compile(r"BILLING_PERIOD=(\d{4})-(\d{2})", re.ASCII)
_YEAR, _MONTH = re.compile(r"year=(\d{4})"), re.compile(r"month=(\d{1,2})")


def moment_in(written: str) -> datetime | None:
    """The moment a name begins with, as the vendors name their versions."""
    met = _COMPACT.match(written) or _ISO.match(written)
    try:
        return datetime(*map(int, met.groups()), tzinfo=UTC) if met else None  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def month_in(names: Sequence[str]) -> str | None:
    """The billing month that the names of folders tell, the innermost first."""
    for at in reversed(range(len(names))):
        met = _PERIOD.fullmatch(names[at]) or _PARTITION.fullmatch(names[at])
        if met:
            return _sound_month(met[1], met[2])
        month = _MONTH.fullmatch(names[at])
        year = _YEAR.fullmatch(names[at - 1]) if month and at else None
        if month and year:
            return _sound_month(year[1], month[1].zfill(2))
    return None


def _month_of_period(start: str) -> str | None:
    return _sound_month(start[:4], start[4:6]) if _COMPACT.match(start) else None


def _sound_month(year: str, month: str) -> str | None:
    return f"{year}-{month}" if "01" <= month <= "12" else None


def _one_month(at: PurePosixPath, months: Sequence[str | None]) -> str | None:
    told = sorted({month for month in months if month})
    if len(told) > 1:
        raise refused(at.name, "several_months", ", ".join(told))
    return told[0] if told else month_in(at.parts[:-1])


def names_of(key: str) -> tuple[str, ...]:
    """The names a key is made of, without scheme and bucket."""
    scheme, store, rest = key.partition("://")
    bare = rest.partition("/")[2] if store and "/" not in scheme else key
    return tuple(name for name in bare.split("/") if name)
