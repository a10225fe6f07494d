"""Converts a delivery into Parquet files of cost lines: streamed, in order, on several cores."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.cost_line import COMMITMENT_IDS, SCHEMA
from nimbill.costs.formats.line_rules import line_error
from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.normalize import ImportTarget, NormalizedBatch, normalize
from nimbill.costs.ingestion.parts import Delivery, Limits, Part
from nimbill.costs.ingestion.raw_lines import ParseTask, split_into_parse_tasks
from nimbill.costs.ingestion.unpacked_size import UnpackedSize
from nimbill.costs.ingestion.worker_threads import count_worker_threads
from nimbill.costs.parquet_output import open_parquet_output

LINES_PER_FILE = 4_000_000
LINES_PER_GROUP = 131_072
# values of all other columns repeat and are stored once per row group
PLAIN_COLUMNS = ("line", "cost", "effective_cost", "part", "tags")
TAG_COLUMNS = ("tags.key_value.key", "tags.key_value.value")
COLUMN_ENCODINGS = {"line": "DELTA_BINARY_PACKED"}
SPLIT_THE_MONTHS = "import each month alone"
NAME_THE_MONTH = "name the month of the invoice, which late usage of earlier months is on"
# only the columns of which minimum, maximum or number of values are used: statistics of all take a
# third of the writing time
STATISTICS_COLUMNS = ("payer_id", "kind", "cost", "usage_start", *COMMITMENT_IDS)


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    path: Path
    lines: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ConversionResult:
    month: str | None  # None if there are no lines and no month was specified
    files: tuple[ConvertedFile, ...]
    lines: int
    warnings: ImportWarnings
    rows: Counter[int]  # of each part by its number, including lines of other vendors
    unpacked_bytes: int


class _PartBatch(NamedTuple):
    part: int
    rows: int  # of the part, including lines of other vendors
    batch: NormalizedBatch


_Task = Callable[[], _PartBatch]


def convert_delivery(
    delivery: Delivery,
    *,
    vendor: str,
    month: str | None,
    into: Path,
    limits: Limits,
    providers: Collection[str] | None = None,
    on_progress: Callable[[int], None] = lambda _lines: None,
    on_file: Callable[[str], None] = lambda _name: None,
    reserved_cores: int = 0,
) -> ConversionResult:
    """Raise CostFileError if a file, line or value is invalid; ignore the written files then.

    `on_progress` receives the number of lines so far, `on_file` the name of each file at its start.
    """
    result = convert_parts(
        dict(enumerate(delivery.parts)),
        build_target(delivery, vendor, month, providers),
        into=into,
        limits=limits,
        on_progress=on_progress,
        on_file=on_file,
        reserved_cores=reserved_cores,
    )
    refuse_contradictions(delivery, vendor, result.warnings, result.rows, result.lines)
    return result


def build_target(
    delivery: Delivery, vendor: str, month: str | None, providers: Collection[str] | None
) -> ImportTarget:
    """The month is that of the caller, else that of the manifest."""
    return ImportTarget(vendor, month or delivery.month, delivery.month, providers)


def convert_parts(
    parts: Mapping[int, Part],
    target: ImportTarget,
    *,
    into: Path,
    limits: Limits,
    file_prefix: str = "",
    on_progress: Callable[[int], None] = lambda _lines: None,
    on_file: Callable[[str], None] = lambda _name: None,
    reserved_cores: int = 0,
) -> ConversionResult:
    """Convert some parts of a delivery, by their numbers in it.

    Whether all parts of the delivery belong together is for the caller to check.
    """
    into.mkdir(parents=True, exist_ok=True)
    warnings, rows, total = ImportWarnings(), Counter[int](), UnpackedSize(limits)
    with _LineWriter(into, file_prefix) as writer:
        tasks = _build_tasks(parts, target, limits, total, on_file)
        for part, row_count, batch in _run_in_order(
            tasks, count_worker_threads(reserved=reserved_cores)
        ):
            rows[part] += row_count
            warnings.add(batch.warnings)
            writer.write(batch.lines)
            on_progress(writer.lines)
    month = next(iter(warnings.months), target.month)
    return ConversionResult(
        month, tuple(writer.files), writer.lines, warnings, rows, total.unpacked_bytes
    )


def refuse_contradictions(
    delivery: Delivery, vendor: str, warnings: ImportWarnings, rows: Counter[int], lines: int
) -> None:
    """Raise CostFileError if the converted parts do not belong together."""
    _refuse_mixed_content(delivery, vendor, warnings, lines)
    _refuse_wrong_row_count(delivery, rows)


def _refuse_mixed_content(
    delivery: Delivery, vendor: str, warnings: ImportWarnings, lines: int
) -> None:
    first = delivery.parts[0].name
    if len(warnings.months) > 1:
        advice = NAME_THE_MONTH if warnings.has_late_usage else SPLIT_THE_MONTHS
        raise line_error(first, "several_months", ", ".join(sorted(warnings.months)), advice)
    if warnings.other_vendors and not lines:
        others = warnings.other_vendors.most_common()
        names = [f"{name or 'an unnamed provider'} ({count})" for name, count in others]
        raise line_error(first, "vendor_absent", vendor, ", ".join(names))


def _refuse_wrong_row_count(delivery: Delivery, rows: Counter[int]) -> None:
    for number, part in enumerate(delivery.parts):
        if part.rows is not None and part.rows != rows[number]:
            raise delivery_error(part.name, "part_rows", rows[number], part.rows)


def _build_tasks(
    parts: Mapping[int, Part],
    target: ImportTarget,
    limits: Limits,
    total: UnpackedSize,
    on_file: Callable[[str], None],
) -> Iterator[_Task]:
    for number, part in parts.items():
        on_file(part.name)
        total.add_file(part.bytes)
        for parse in split_into_parse_tasks(part, limits, total):
            yield lambda parse=parse, number=number: _parse_and_normalize(  # type: ignore[misc]
                parse, number, target
            )


def _parse_and_normalize(parse: ParseTask, part: int, target: ImportTarget) -> _PartBatch:
    raw = parse()
    return _PartBatch(part, len(raw), normalize(raw, target, part=part))


def _run_in_order(tasks: Iterator[_Task], threads: int) -> Iterator[_PartBatch]:
    """Run tasks on several threads, a few ahead, and yield the results in file order."""
    futures: deque[Future[_PartBatch]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="cost lines") as pool:
        try:
            for task in tasks:
                futures.append(pool.submit(task))
                if len(futures) > 3 * threads:
                    yield futures.popleft().result()
            while futures:
                yield futures.popleft().result()
        finally:
            for future in futures:
                future.cancel()


class _LineWriter:
    """Writes Parquet files of at most about LINES_PER_FILE lines.

    A background thread writes one row group while the next one is collected. A file is listed in
    `files` after it is complete and synced to disk.
    """

    def __init__(self, into: Path, prefix: str) -> None:
        self._into, self._prefix = into, prefix
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="line writer")
        self._write_task: Future[None] | None = None
        self._opened = ExitStack()
        self._parquet: pq.ParquetWriter | None = None
        self._path = into
        self._file_lines = 0
        self._pending: list[pa.Table] = []
        self._pending_lines = 0
        self.lines = 0
        self.files: list[ConvertedFile] = []

    def __enter__(self) -> _LineWriter:
        return self

    def __exit__(self, error_type: object, *_: object) -> None:
        with self._thread:
            if error_type is None:
                self._flush()
                self._wait()
                self._close_file()
        self._opened.close()  # it is open if an error occurred, here or elsewhere

    def write(self, lines: pa.Table) -> None:
        self.lines += len(lines)
        self._pending.append(lines)
        self._pending_lines += len(lines)
        if self._pending_lines >= LINES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        """Wait for the previous row group first: at most one is written while one is collected."""
        self._wait()
        if self._pending_lines:
            self._write_task = self._thread.submit(
                self._write_group, self._pending, self._pending_lines
            )
        self._pending, self._pending_lines = [], 0

    def _wait(self) -> None:
        if self._write_task is not None:
            self._write_task.result()

    def _write_group(self, tables: Sequence[pa.Table], lines: int) -> None:
        group = pa.concat_tables(tables).unify_dictionaries()
        if self._parquet is None:
            self._parquet = self._open_file(group.schema)
        self._parquet.write_table(group, row_group_size=lines)
        self._file_lines += lines
        if self._file_lines >= LINES_PER_FILE:
            self._close_file()

    def _open_file(self, schema: pa.Schema) -> pq.ParquetWriter:
        self._path = self._into / f"{self._prefix}{len(self.files):05}.parquet"
        encoded = [name for name in SCHEMA.names if name not in PLAIN_COLUMNS]
        writer: pq.ParquetWriter = self._opened.enter_context(
            pq.ParquetWriter(
                self._opened.enter_context(open_parquet_output(self._path)),
                schema,
                compression="zstd",
                compression_level=1,
                store_schema=False,
                write_statistics=list(STATISTICS_COLUMNS),
                use_dictionary=[*encoded, *TAG_COLUMNS],
                column_encoding=COLUMN_ENCODINGS,
            )
        )
        return writer

    def _close_file(self) -> None:
        if self._parquet is None:
            return
        self._opened.close()
        self._parquet = None
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        size = self._path.stat().st_size
        self.files.append(ConvertedFile(self._path, self._file_lines, size, digest))
        self._file_lines = 0
