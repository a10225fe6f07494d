"""Verifies a conversion: reads the vendor's files a second time with DuckDB and compares sums.

The second reading shares only the column names and the table of line types with the first one:
DuckDB decompresses, parses and adds up on its own. Sums must be equal to the last digit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import NamedTuple

import duckdb

from nimbill.costs.cost_line import LineKind
from nimbill.costs.formats.detection import FileLayout
from nimbill.costs.formats.focus import CORRECTION
from nimbill.costs.formats.format import NULLS
from nimbill.costs.ingestion.focus_sellers import ImportedVendor
from nimbill.costs.ingestion.parts import Delivery, Limits, Part
from nimbill.costs.ingestion.raw_lines import read_layout
from nimbill.costs.ingestion.second_reading_sql import (
    column_expression,
    cost_expression,
    id_expression,
    quote_text,
    table_expression,
    vendor_condition,
)
from nimbill.costs.ingestion.text_second_reading import READ_ERRORS as TEXT_READ_ERRORS
from nimbill.costs.ingestion.text_second_reading import iterate_text_lines
from nimbill.costs.ingestion.worker_threads import count_worker_threads
from nimbill.foundation.money import add_decimals

# See docs/choices.md, second-reading.

MEMORY_MAX = "384MB"
# small deliveries are read after the conversion, which refuses decompression bombs
PARALLEL_BYTES_MIN = 8 * 2**20
INTERRUPT_INTERVAL_SECONDS = 0.02
KINDS = frozenset(kind.value for kind in LineKind)
# errors of the file or of DuckDB's parser; others, such as a full disk, are raised
READ_ERRORS = (duckdb.DataError, duckdb.NotSupportedError, duckdb.ProgrammingError)


class UnreadableBySecondReader(Exception):
    """DuckDB cannot read a file that the first reading could read."""


class SumKey(NamedTuple):
    payer_id: str
    customer_id: str
    currency: str
    kind: str


class LineSum(NamedTuple):
    cost: Decimal
    lines: int


Sums = dict[SumKey, LineSum]

ZERO = LineSum(Decimal(0), 0)


@dataclass(frozen=True, slots=True)
class SumDifference:
    key: SumKey
    delivered: LineSum
    stored: LineSum


def find_differences(delivered: Sums, stored: Sums) -> list[SumDifference]:
    return [
        SumDifference(key, delivered.get(key, ZERO), stored.get(key, ZERO))
        for key in sorted(delivered.keys() | stored.keys())
        if delivered.get(key, ZERO) != stored.get(key, ZERO)
    ]


class SecondReading:
    """Sums a delivery; runs in parallel to the first reading if the delivery is large.

    If the `with` block raises an error, the reading is interrupted at once.
    """

    def __init__(
        self,
        delivery: Delivery,
        *,
        vendor: str,
        limits: Limits,
        providers: Collection[str] | None = None,
    ) -> None:
        self._delivery, self._limits = delivery, limits
        self._vendor = ImportedVendor.build(vendor, providers)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="second reading")
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._future: Future[Sums] | None = None
        self._stopped = Event()

    def __enter__(self) -> SecondReading:
        if sum(part.bytes for part in self._delivery.parts) >= PARALLEL_BYTES_MIN:
            self._future = self._pool.submit(self._sum, lambda _: None)
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if error_type is not None and self._future is not None:
            self._interrupt(self._future)
        self._pool.shutdown(cancel_futures=True)

    def _interrupt(self, future: Future[Sums]) -> None:
        """Repeat the interrupt: it has no effect between two queries or before the first one."""
        self._stopped.set()
        while wait([future], INTERRUPT_INTERVAL_SECONDS).not_done:
            if self._connection is not None:
                with suppress(duckdb.Error):  # the connection may have been closed just now
                    self._connection.interrupt()

    @property
    def reserved_cores(self) -> int:
        """Cores that the first reading should leave, because the slower of the two decides."""
        return 0 if self._future is None else 1

    def sums(self, notify: Callable[[str], None]) -> Sums:
        """Raise UnreadableBySecondReader like `sum_delivery`."""
        return self._sum(notify) if self._future is None else self._future.result()

    def _sum(self, notify: Callable[[str], None]) -> Sums:
        with open_second_reader() as self._connection:
            return sum_delivery(
                self._delivery,
                self._connection,
                vendor=self._vendor,
                limits=self._limits,
                notify=notify,
                stopped=self._stopped,
            )


# ── sums ─────────────────────────────────────────────────────────────────────────────────────────


def sum_stored_lines(files: Sequence[Path]) -> Sums:
    """Sum the Parquet files that the conversion wrote."""
    if not files:
        return {}
    names = ", ".join(quote_text(str(file)) for file in files)
    with open_second_reader() as db:
        key = "payer_id, customer_id, currency, kind"
        return _run_sum(db, key, "cost", f"read_parquet([{names}])", lambda kind: kind or "")


def sum_delivery(
    delivery: Delivery,
    db: duckdb.DuckDBPyConnection,
    *,
    vendor: ImportedVendor,
    limits: Limits,
    notify: Callable[[str], None],
    stopped: Event | None = None,
) -> Sums:
    """Raise UnreadableBySecondReader if a part cannot be read; `stopped` ends long text files."""
    parts: list[tuple[SumKey, LineSum]] = []
    for part in delivery.parts:
        notify(part.name)
        layout = read_layout(part, limits)
        if "credits" in layout.positions and part.file_type != "parquet":
            parts += _sum_text(part, layout, stopped or Event()).items()
        else:
            parts += _sum_part(db, part, layout, vendor, limits).items()
    return add_up_sums(parts)


def _sum_text(part: Part, layout: FileLayout, stopped: Event) -> Sums:
    try:
        return add_up_sums(
            (
                SumKey(
                    line.payer_id,
                    line.customer_id,
                    line.currency,
                    layout.format.classify(line.line_type).kind.value,
                ),
                LineSum(line.charge, 1),
            )
            for line in iterate_text_lines(part, layout, stopped)
        )
    except TEXT_READ_ERRORS:
        raise UnreadableBySecondReader(part.name) from None


def add_up_sums(parts: Iterable[tuple[SumKey, LineSum]]) -> Sums:
    """Add the sums with the same key."""
    sums: Sums = {}
    for key, (cost, lines) in parts:
        before = sums.get(key, ZERO)
        sums[key] = LineSum(add_decimals(before.cost, cost), before.lines + lines)
    return sums


def _sum_part(
    db: duckdb.DuckDBPyConnection,
    part: Part,
    layout: FileLayout,
    vendor: ImportedVendor,
    limits: Limits,
) -> Sums:
    where = ""
    if layout.format.vendor is None:
        where = f" WHERE {vendor_condition(part, layout, vendor)}"
    customer_fields = ("customer_id", "customer_fallback")
    payer = id_expression(part, layout, ("payer_id", *customer_fields))
    customer = id_expression(part, layout, (*customer_fields, "payer_id"))
    types = [
        f"CAST({column_expression(part, layout, field)} AS VARCHAR)"
        for field in _type_fields(layout)
    ]
    key = ", ".join(
        [payer, customer, f"upper({column_expression(part, layout, 'currency')})", *types]
    )
    cost = cost_expression(part, layout)

    def run(*, parallel: bool) -> Sums:
        table = table_expression(part, layout, limits, parallel=parallel)
        return _run_sum(db, key, cost, table + where, lambda *values: _find_kind(layout, values))

    try:
        try:
            # several threads gain little if one of them has to decompress
            return run(parallel=part.file_type != "csv.gz")
        except duckdb.NotSupportedError:
            # in some long files DuckDB's threads cannot find the start of a line
            return run(parallel=False)
    except READ_ERRORS:
        raise UnreadableBySecondReader(part.name) from None


def _run_sum(
    db: duckdb.DuckDBPyConnection,
    key: str,
    cost: str,
    table: str,
    find_kind: Callable[..., str],
) -> Sums:
    """`find_kind` receives what follows payer, account and currency in the key.

    If a sum overflows a decimal, whole units and fractions are summed separately.
    """

    def run(sums: str) -> Sums:
        query = f"SELECT {sums}, count(*), {key} FROM {table} GROUP BY ALL"  # noqa: S608
        return add_up_sums(_parse_row(row, find_kind) for row in db.execute(query).fetchall())

    try:
        return run(f"sum({cost}), 0")
    except duckdb.OutOfRangeException:
        return run(f"sum(trunc({cost})), sum({cost} - trunc({cost}))")


def _parse_row(row: tuple[object, ...], find_kind: Callable[..., str]) -> tuple[SumKey, LineSum]:
    cost, fraction, lines, payer, customer, currency, *values = row
    key = SumKey(str(payer), str(customer), str(currency), find_kind(*values))
    total = add_decimals(Decimal(str(cost)), Decimal(str(fraction)))
    return key, LineSum(total, int(str(lines)))


# ── line types ───────────────────────────────────────────────────────────────────────────────────


def _type_fields(layout: FileLayout) -> list[str]:
    """The fields that decide how a line is billed; files exported by Nimbill name the kind."""
    if {"nimbill_line_type", "nimbill_kind"} <= layout.positions.keys():
        return ["nimbill_kind"]
    return [field for field in ("line_type", "charge_class") if field in layout.positions]


def _find_kind(layout: FileLayout, values: Sequence[str | None]) -> str:
    """Return the kind of lines with these values of `_type_fields`."""
    fields = dict(zip(_type_fields(layout), values, strict=True))
    if "nimbill_kind" in fields:
        kind = fields["nimbill_kind"] or ""
        return kind if kind in KINDS else LineKind.unknown.value
    line_type = fields.get("line_type")
    if line_type is None or line_type in NULLS:
        line_type = layout.format.line_type_default or ""
    if fields.get("charge_class") == CORRECTION.strip():
        line_type += CORRECTION
    return layout.format.classify(line_type).kind.value


# ── DuckDB ──────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def open_second_reader() -> Iterator[duckdb.DuckDBPyConnection]:
    with _open_database(os.getpid()).cursor() as db:
        db.execute(f"SET threads = {count_worker_threads()}")
        yield db


@cache
def _open_database(_process: int) -> duckdb.DuckDBPyConnection:
    """One for each process: opening it takes 40 ms, and a fork cannot use its parent's."""
    db = duckdb.connect(":memory:")
    db.execute(f"SET memory_limit = '{MEMORY_MAX}'; SET autoinstall_known_extensions = false")
    return db
