"""A delivery turned into Parquet files of cost lines: streamed, in order, on every core."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from nimbill.costs.cost_line import SCHEMA
from nimbill.costs.formats.line_rules import refusal
from nimbill.costs.ingestion.delivery import Delivery, Limits, Part
from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.normalize import ImportWarnings, NormalizedBatch, normalize
from nimbill.costs.ingestion.raw_lines import Piece, pieces_of

LINES_PER_FILE = 4_000_000
LINES_PER_GROUP = 131_072
THREADS_MAX = 4
# what repeats is kept once per group; costs and places do not
NO_DICTIONARY = ("line", "cost", "effective_cost", "part", "tags")
TAG_WORDS = ("tags.key_value.key", "tags.key_value.value")
COUNTING_UP = {"line": "DELTA_BINARY_PACKED"}
# the smallest and largest of a group are kept only where somebody asks: they take a third of the
# writing
STATISTICS = ("payer_id", "kind", "cost", "usage_start")

Counted = tuple[int, int, NormalizedBatch]  # which part, how many of its rows, and what they became


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    path: Path
    lines: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Converted:
    month: str | None  # None where there is no line and nobody said which
    files: tuple[ConvertedFile, ...]
    lines: int
    noticed: ImportWarnings


def convert(
    delivery: Delivery,
    *,
    vendor: str,
    month: str | None,
    into: Path,
    limits: Limits,
    tell: Callable[[int], None] = lambda _lines: None,
    cores_left: int = 0,
) -> Converted:
    """Broken where a file, a line or a value is not what it should be; nothing counts then.

    On every core but those that are left to whoever else is at work.
    """
    into.mkdir(parents=True, exist_ok=True)
    month = month or delivery.month
    noticed, rows, writer = ImportWarnings(), Counter[int](), _Writer(into)
    with writer:
        work = _work(delivery, vendor, month, limits)
        for part, count, brought in _in_order(work, _threads(cores_left)):
            rows[part] += count
            noticed.add(brought.noticed)
            writer.write(brought.lines)
            tell(writer.lines)
        _refuse_unsound(delivery, noticed, writer.lines)
        _refuse_other_rows(delivery, rows)
    found = next(iter(noticed.months), month)
    return Converted(found, tuple(writer.files), writer.lines, noticed)


def _refuse_unsound(delivery: Delivery, noticed: ImportWarnings, lines: int) -> None:
    first = delivery.parts[0].name
    if len(noticed.months) > 1:
        raise refusal(first, "several_months")
    if noticed.other_vendors and not lines:
        raise refusal(first, "vendor_absent")


def _refuse_other_rows(delivery: Delivery, rows: Counter[int]) -> None:
    """Where the manifest tells how many rows a part has, it has as many."""
    for number, part in enumerate(delivery.parts):
        if part.rows is not None and part.rows != rows[number]:
            raise refused(part.name, "part_rows", rows[number], part.rows)


def _work(
    delivery: Delivery, vendor: str, month: str | None, limits: Limits
) -> Iterator[Callable[[], Counted]]:
    for number, part in enumerate(delivery.parts):
        yield from _of_part(number, part, vendor, month, limits)


def _of_part(
    number: int, part: Part, vendor: str, month: str | None, limits: Limits
) -> Iterator[Callable[[], Counted]]:
    for piece in pieces_of(part, limits):
        yield lambda piece=piece: _brought(piece, number, vendor, month)  # type: ignore[misc]


def _brought(piece: Piece, part: int, vendor: str, month: str | None) -> Counted:
    raw = piece()
    return part, len(raw), normalize(raw, part=part, vendor=vendor, month=month)


def _threads(cores_left: int) -> int:
    return max(1, min(os.cpu_count() or 1, THREADS_MAX) - cores_left)


def _in_order(work: Iterator[Callable[[], Counted]], threads: int) -> Iterator[Counted]:
    """Done by several threads, a few pieces ahead, and handed on as they come in the file."""
    ahead: deque[Future[Counted]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="cost lines") as pool:
        try:
            for one in work:
                ahead.append(pool.submit(one))
                if len(ahead) > 3 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


class _Writer:
    """Files of at most so many lines; each is whole and on disk before it is named.

    A thread of its own writes, a group at a time: reading goes on meanwhile.
    """

    def __init__(self, into: Path) -> None:
        self._into = into
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lines written")
        self._under_way: Future[None] | None = None
        self._open: pq.ParquetWriter | None = None
        self._path = into
        self._in_file = 0
        self._waiting: list[pa.Table] = []
        self._waiting_lines = 0
        self.lines = 0
        self.files: list[ConvertedFile] = []

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with self._thread:
            if kind is None:
                self._hand_over()
                self._done()
                self._close()
        if self._open is not None:  # something went wrong, here or elsewhere
            self._open.close()

    def write(self, lines: pa.Table) -> None:
        self.lines += len(lines)
        self._waiting.append(lines)
        self._waiting_lines += len(lines)
        if self._waiting_lines >= LINES_PER_GROUP:
            self._hand_over()

    def _hand_over(self) -> None:
        """One group is waited for while the next is gathered, never more."""
        self._done()
        if self._waiting_lines:
            self._under_way = self._thread.submit(self._write, self._waiting, self._waiting_lines)
        self._waiting, self._waiting_lines = [], 0

    def _done(self) -> None:
        if self._under_way is not None:
            self._under_way.result()

    def _write(self, waiting: Sequence[pa.Table], lines: int) -> None:
        group = pa.concat_tables(waiting).unify_dictionaries()
        if self._open is None:
            self._open = self._started(group.schema)
        self._open.write_table(group, row_group_size=lines)
        self._in_file += lines
        if self._in_file >= LINES_PER_FILE:
            self._close()

    def _started(self, schema: pa.Schema) -> pq.ParquetWriter:
        self._path = self._into / f"{len(self.files):05}.parquet"
        repeating = [name for name in SCHEMA.names if name not in NO_DICTIONARY]
        return pq.ParquetWriter(
            self._path,
            schema,
            compression="zstd",
            compression_level=1,
            store_schema=False,
            write_statistics=list(STATISTICS),
            use_dictionary=[*repeating, *TAG_WORDS],
            column_encoding=COUNTING_UP,
        )

    def _close(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open = None
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        size = self._path.stat().st_size
        self.files.append(ConvertedFile(self._path, self._in_file, size, digest))
        self._in_file = 0
