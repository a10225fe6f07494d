"""Converts parts of a delivery, verifies them by a second reading and stores them in the lake.

One machine does this with the whole delivery. On a Spark cluster each task does it with one part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nimbill.costs.ingestion.conversion import (
    ConversionResult,
    ConvertedFile,
    build_target,
    convert_delivery,
    convert_parts,
)
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.parts import Delivery, Limits
from nimbill.costs.ingestion.second_reading import (
    SecondReading,
    Sums,
    UnreadableBySecondReader,
    sum_stored_lines,
)
from nimbill.costs.ingestion.worker_threads import THREADS_MAX
from nimbill.costs.lake.parquet_files import Lake, import_folder

OnProgress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ConversionOrder:
    """What is converted for whom, and the lake that receives the lines."""

    organisation_id: str
    import_id: str
    vendor: str
    month: str | None  # if the caller named it
    providers: Collection[str] | None
    lake_url: str
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class StoredConversion:
    """Lines in the lake, with what is known about them."""

    month: str | None  # None if there are no lines and no month was specified
    lines: int
    warnings: ImportWarnings
    rows: Counter[int]  # of each part by its number, including lines of other vendors
    unpacked_bytes: int
    files: list[dict[str, Any]]
    stored: Sums  # of the lines in the lake
    delivered: Sums | None  # of the second reading; None if it could not read a file
    unreadable_file: str | None


def convert_and_store(
    delivery: Delivery,
    order: ConversionOrder,
    *,
    folder: Path,
    on_progress: OnProgress,
    on_file: Callable[[str], None],
) -> StoredConversion:
    """Convert the whole delivery in this process, on several cores."""
    with _open_second_reading(delivery, order) as second_reading:
        conversion = convert_delivery(
            delivery,
            vendor=order.vendor,
            month=order.month,
            into=folder,
            limits=order.limits,
            providers=order.providers,
            on_progress=lambda lines: on_progress({"step": "reading", "lines": lines}),
            on_file=on_file,
            reserved_cores=second_reading.reserved_cores,
        )
        return _verify_and_store(second_reading, conversion, order, on_progress)


def convert_and_store_part(
    piece: Delivery, number: int, order: ConversionOrder, *, folder: Path, file_prefix: str
) -> StoredConversion:
    """Convert a delivery reduced to the part with this number, on one core.

    Whether the part agrees with the others is not known here.
    """
    with _open_second_reading(piece, order) as second_reading:
        conversion = convert_parts(
            {number: piece.parts[0]},
            build_target(piece, order.vendor, order.month, order.providers),
            into=folder,
            limits=order.limits,
            file_prefix=file_prefix,
            reserved_cores=THREADS_MAX,
        )
        return _verify_and_store(second_reading, conversion, order, lambda _progress: None)


def _open_second_reading(delivery: Delivery, order: ConversionOrder) -> SecondReading:
    return SecondReading(
        delivery, vendor=order.vendor, limits=order.limits, providers=order.providers
    )


def _verify_and_store(
    second_reading: SecondReading,
    conversion: ConversionResult,
    order: ConversionOrder,
    on_progress: OnProgress,
) -> StoredConversion:
    """Sum the converted lines and the delivered files; the caller compares both."""
    lines, unreadable_file = conversion.lines, None
    delivered: Sums | None = None
    on_progress({"step": "checking", "lines": lines})
    stored = sum_stored_lines([file.path for file in conversion.files])
    try:
        delivered = second_reading.sums(
            lambda name: on_progress({"step": "checking", "file": name, "lines": lines})
        )
    except UnreadableBySecondReader as error:
        unreadable_file = str(error)
    return StoredConversion(
        month=conversion.month,
        lines=lines,
        warnings=conversion.warnings,
        rows=conversion.rows,
        unpacked_bytes=conversion.unpacked_bytes,
        files=_store(conversion.files, conversion.month, order),
        stored=stored,
        delivered=delivered,
        unreadable_file=unreadable_file,
    )


def _store(
    files: Sequence[ConvertedFile], month: str | None, order: ConversionOrder
) -> list[dict[str, Any]]:
    if not files:
        return []
    assert month is not None, "lines have a month"
    folder = import_folder(
        order.organisation_id, vendor=order.vendor, month=month, import_id=order.import_id
    )
    names = Lake(order.lake_url).put([file.path for file in files], folder=folder)
    return [
        {"path": name, "lines": file.lines, "bytes": file.bytes, "sha256": file.sha256}
        for name, file in zip(names, files, strict=True)
    ]
