"""Vendors' files of an invented month: any dialect, form, split and order, the same money."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import BinaryIO, Literal, cast

import pyarrow as pa
import pyarrow.parquet as pq
from isal import igzip_threaded

from nimbill.demo.vendor_files import aws, azure, focus
from nimbill.demo.vendor_files.columns import Column, arrow_table, csv_header, csv_text
from nimbill.demo.vendor_files.months import (
    MONEY,
    Charges,
    Kind,
    Month,
    charges,
    costs_of,
    invented_uuid,
)

__all__ = ["Dialect", "Kind", "Month", "Written", "costs_of", "costs_told", "write_files"]

Form = Literal["csv", "csv.gz", "csv.zip", "parquet"]
Numbers = Literal["decimal", "double"]

REORDERED_LINES_MAX = 200_000  # a month in another order is held as a whole


class Dialect(StrEnum):
    aws_cur = "aws_cur"  # legacy, slashes
    aws_cur_snake = "aws_cur_snake"  # legacy, snake_case
    aws_cur2 = "aws_cur2"
    azure_ea = "azure_ea"
    azure_mca = "azure_mca"
    focus_1_0 = "focus_1_0"
    focus_1_1 = "focus_1_1"
    focus_1_2 = "focus_1_2"

    @property
    def vendors(self) -> tuple[str, ...]:
        vendor = self.value.partition("_")[0]
        return ("aws", "azure") if vendor == "focus" else (vendor,)


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a month, and the manifest where one was asked for."""

    parts: tuple[Path, ...]
    manifest: Path | None


def write_files(
    month: Month,
    dialect: Dialect,
    folder: Path,
    *,
    form: Form = "csv.gz",
    parts: int | Sequence[int] = 1,
    order: int | None = None,
    numbers: Numbers = "decimal",
    assembled_at: datetime | None = None,
    name: str = "report",
) -> Written:
    """Write the month; `parts` is how many, or the number of lines of each, `order` shuffles.

    With a moment of assembly the vendor's manifest is written beside the parts, and names them as
    the vendor's bucket would.
    """
    assert month.vendor in dialect.vendors, f"{dialect} does not tell of {month.vendor}"
    folder.mkdir(parents=True, exist_ok=True)
    columns = columns_of(month, dialect, numbers, typed=form == "parquet")
    written = []
    for at, blocks in enumerate(_split(month, parts, order), 1):
        path = folder / f"{name}-{at:05d}.{form}"
        WRITERS[form](path, columns, blocks, month)
        written.append(path)
    if assembled_at is None:
        return Written(tuple(written), None)
    return Written(tuple(written), _manifest(month, dialect, written, name, assembled_at))


def columns_of(month: Month, dialect: Dialect, numbers: Numbers, *, typed: bool) -> list[Column]:
    money = MONEY if numbers == "decimal" else pa.float64()
    match dialect:
        case Dialect.aws_cur:
            return aws.legacy_columns(month)
        case Dialect.aws_cur_snake:
            if typed:
                return aws.snake_columns(month, money)
            plain = aws.legacy_columns(month)
            return [column.named(aws.snake(column.name)) for column in plain]
        case Dialect.aws_cur2:
            return aws.cur2_columns(month, money, maps=typed)
        case Dialect.azure_ea:
            return azure.ea_columns(month, money)
        case Dialect.azure_mca:
            return azure.mca_columns(month, money)
    return focus.focus_columns(month, dialect.value[-3:].replace("_", "."), money)


def costs_told(month: Month, dialect: Dialect) -> dict[tuple[str, str], Decimal]:
    """What each customer is charged by each line type, in the dialect's own words."""
    words = {"aws": aws.LINE_TYPES, "azure": azure.CHARGE_TYPES}.get(
        dialect.value.partition("_")[0], focus.CATEGORIES
    )
    told: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for (customer, kind), cost in costs_of(month).items():
        told[customer, words[kind]] += cost
    return dict(told)


# ── parts ────────────────────────────────────────────────────────────────────────────────────────


def _split(
    month: Month, parts: int | Sequence[int], order: int | None
) -> Iterator[Iterator[Charges]]:
    sizes = _sizes(month.lines, parts)
    if order is not None:
        whole = _reordered(month, order)
    first = 0
    for size in sizes:
        if order is not None:
            yield iter([whole.slice(first, size)])
        else:
            yield charges(month, first, size)
        first += size


def _sizes(lines: int, parts: int | Sequence[int]) -> list[int]:
    if isinstance(parts, int):
        each, more = divmod(lines, parts)
        return [each + (at < more) for at in range(parts)]
    assert sum(parts) == lines, f"{sum(parts)} lines in parts of a month of {lines}"
    return list(parts)


def _reordered(month: Month, order: int) -> Charges:
    assert month.lines <= REORDERED_LINES_MAX
    blocks = [block.arrays() for block in charges(month)]
    whole = Charges(*(pa.concat_arrays(arrays) for arrays in zip(*blocks, strict=True)))
    rows = list(range(month.lines))
    Random(order).shuffle(rows)
    return whole.taken(pa.array(rows, pa.int64()))


_Write = Callable[[Path, Sequence[Column], Iterator[Charges], Month], None]


def _lines(
    out: BinaryIO, columns: Sequence[Column], blocks: Iterator[Charges], month: Month
) -> None:
    out.write(csv_header(columns))
    for block in blocks:
        if len(block):
            out.write(csv_text(columns, block, month))
            out.write(b"\n")


def _csv(path: Path, columns: Sequence[Column], blocks: Iterator[Charges], month: Month) -> None:
    with path.open("wb") as out:
        _lines(out, columns, blocks, month)


def _gzip(path: Path, columns: Sequence[Column], blocks: Iterator[Charges], month: Month) -> None:
    opened = igzip_threaded.open(path, "wb", compresslevel=1)  # type: ignore[no-untyped-call]
    with opened as out:
        _lines(cast("BinaryIO", out), columns, blocks, month)


def _zip(path: Path, columns: Sequence[Column], blocks: Iterator[Charges], month: Month) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(path.name.removesuffix(".zip"), "w", force_zip64=True) as out,
    ):
        _lines(cast("BinaryIO", out), columns, blocks, month)


def _parquet(
    path: Path, columns: Sequence[Column], blocks: Iterator[Charges], month: Month
) -> None:
    """Without what Arrow would say about itself, so that words come back as plain text."""
    nothing = next(charges(Month(lines=1))).slice(0, 0)
    schema = arrow_table(columns, nothing, month).schema
    with pq.ParquetWriter(path, schema, compression="snappy", store_schema=False) as writer:
        for block in blocks:
            writer.write_table(arrow_table(columns, block, month))


WRITERS: dict[Form, _Write] = {
    "csv": _csv,
    "csv.gz": _gzip,
    "csv.zip": _zip,
    "parquet": _parquet,
}


# ── manifests ────────────────────────────────────────────────────────────────────────────────────


def _manifest(
    month: Month, dialect: Dialect, parts: Sequence[Path], name: str, assembled_at: datetime
) -> Path:
    folder = parts[0].parent
    if month.vendor == "azure":
        path, said = folder / "manifest.json", _of_azure(month, dialect, parts, name, assembled_at)
    elif dialect in (Dialect.aws_cur, Dialect.aws_cur_snake):
        path, said = folder / f"{name}-Manifest.json", _of_legacy(month, parts, name, assembled_at)
    else:
        path, said = folder / f"{name}-Manifest.json", _of_export(month, parts, name, assembled_at)
    path.write_text(json.dumps(said, indent=2))
    return path


def _of_legacy(
    month: Month, parts: Sequence[Path], name: str, assembled_at: datetime
) -> dict[str, object]:
    assembly = assembled_at.strftime("%Y%m%dT%H%M%SZ")
    period = f"{month.start:%Y%m%d}-{month.end:%Y%m%d}"
    return {
        "assemblyId": assembly,
        "account": month.payer_id,
        "charset": "UTF-8",
        "reportName": name,
        "billingPeriod": {
            "start": f"{month.start:%Y%m%dT%H%M%S}.000Z",
            "end": f"{month.end:%Y%m%dT%H%M%S}.000Z",
        },
        "bucket": "bills",
        "reportKeys": [f"cur/{name}/{period}/{assembly}/{part.name}" for part in parts],
    }


def _of_export(
    month: Month, parts: Sequence[Path], name: str, assembled_at: datetime
) -> dict[str, object]:
    run = f"{assembled_at:%Y-%m-%dT%H:%M:%S}.000Z-{invented_uuid(f'run {assembled_at}')}"
    folder = f"s3://bills/cur/{name}/data/BILLING_PERIOD={month.month}/{run}"
    return {
        "account": month.payer_id,
        "reportName": name,
        "executionId": run,
        "exportArn": f"arn:aws:bcm-data-exports:us-east-1:{month.payer_id}:export/{name}",
        "dataFiles": [f"{folder}/{part.name}" for part in parts],
    }


def _of_azure(
    month: Month, dialect: Dialect, parts: Sequence[Path], name: str, assembled_at: datetime
) -> dict[str, object]:
    run = invented_uuid(f"run {assembled_at}")
    last = month.end - timedelta(days=1)
    folder = f"exports/{name}/{month.start:%Y%m%d}-{last:%Y%m%d}/{run}"
    kind = "FocusCost" if dialect.value.startswith("focus") else "ActualCost"
    blobs = [
        {"blobName": f"{folder}/{part.name}", "byteCount": part.stat().st_size} for part in parts
    ]
    return {
        "manifestVersion": "2024-04-01",
        "blobCount": len(blobs),
        "exportConfig": {"exportName": name, "type": kind},
        "deliveryConfig": {"dataOverwriteBehavior": "OverwritePreviousReport"},
        "runInfo": {
            "runId": run,
            "submittedTime": f"{assembled_at:%Y-%m-%dT%H:%M:%S}.0000000Z",
            "startDate": f"{month.start:%Y-%m-%dT%H:%M:%S}",
            "endDate": f"{last:%Y-%m-%dT%H:%M:%S}",
        },
        "blobs": blobs,
    }
