"""The second reading runs in parallel to the first one or after it, and ends with it."""

import time
from pathlib import Path
from typing import Literal, cast

import duckdb
import pytest

from nimbill.costs.ingestion import second_reading
from nimbill.costs.ingestion.conversion import convert_delivery
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.focus_sellers import ImportedVendor
from nimbill.costs.ingestion.parts import Delivery, Limits
from nimbill.costs.ingestion.second_reading import (
    SecondReading,
    Sums,
    UnreadableBySecondReader,
    open_second_reader,
    sum_delivery,
    sum_stored_lines,
)
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files

LIMITS = Limits()


def fetch_month(
    folder: Path, file_format: Literal["csv", "csv.gz"], *, lines: int = 2_000
) -> Delivery:
    month = SyntheticMonth(lines=lines)
    parts = write_files(
        month, Dialect.aws_cur, folder / "in", file_format=file_format, parts=2
    ).parts
    spool = folder / "spool"
    spool.mkdir(parents=True)
    return fetch_delivery(
        [str(part) for part in parts], spool=spool, month=None, limits=LIMITS, notify=lambda _: None
    )


@pytest.fixture
def delivery(tmp_path: Path) -> Delivery:
    return fetch_month(tmp_path, "csv.gz")


@pytest.mark.parametrize("parallel", [True, False])
def test_sums_are_the_same_in_parallel_and_afterwards(
    delivery: Delivery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, parallel: bool
) -> None:
    monkeypatch.setattr(second_reading, "PARALLEL_BYTES_MIN", 1 if parallel else 10**9)
    notices: list[str] = []
    with SecondReading(delivery, vendor="aws", limits=LIMITS) as second:
        into = tmp_path / "lines"
        convert_delivery(
            delivery,
            vendor="aws",
            month=None,
            into=into,
            limits=LIMITS,
            reserved_cores=second.reserved_cores,
        )
        sums = second.sums(notices.append)

    assert sum(line_sum.lines for line_sum in sums.values()) == 2_000
    # in parallel, only the first reading reports progress
    assert notices == ([] if parallel else [part.name for part in delivery.parts])


def test_an_error_of_the_first_reading_interrupts_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first query of the second reading, and during a query."""
    monkeypatch.setattr(second_reading, "PARALLEL_BYTES_MIN", 1)
    for number, seconds in enumerate((0, 0.05)):
        delivery = fetch_month(tmp_path / str(number), "csv.gz", lines=100_000)
        second = SecondReading(delivery, vendor="aws", limits=LIMITS)

        with pytest.raises(ZeroDivisionError):
            _fail_after(seconds, second)

        assert second._future is not None
        assert isinstance(second._future.exception(timeout=0), duckdb.InterruptException)


def _fail_after(seconds: float, second: SecondReading) -> None:
    with second:
        time.sleep(seconds)
        raise ZeroDivisionError


class RefusingConnection:
    """DuckDB that cannot read a file with several threads, as happens with some long files."""

    def __init__(self, db: duckdb.DuckDBPyConnection, *, refuse_always: bool = False) -> None:
        self._db = db
        self._refuse_always = refuse_always
        self.queries: list[str] = []

    def execute(self, query: str) -> duckdb.DuckDBPyConnection:
        self.queries.append(query)
        if self._refuse_always or "parallel = false" not in query:
            raise duckdb.NotImplementedException("does not support a full read on this file")
        return self._db.execute(query)


def sum_with(connection: object, delivery: Delivery) -> Sums:
    db = cast("duckdb.DuckDBPyConnection", connection)
    vendor = ImportedVendor.build("aws")
    return sum_delivery(delivery, db, vendor=vendor, limits=LIMITS, notify=lambda _: None)


def sum_converted(delivery: Delivery, folder: Path) -> Sums:
    into = folder / "lines"
    conversion = convert_delivery(delivery, vendor="aws", month=None, into=into, limits=LIMITS)
    return sum_stored_lines([file.path for file in conversion.files])


@pytest.mark.parametrize(("file_format", "queries_per_part"), [("csv", 2), ("csv.gz", 1)])
def test_files_that_threads_cannot_share_are_read_by_one_thread(
    tmp_path: Path, file_format: Literal["csv", "csv.gz"], queries_per_part: int
) -> None:
    """Gzip files are always read by one thread, which has to decompress them anyway."""
    delivery = fetch_month(tmp_path, file_format)
    with open_second_reader() as db:
        connection = RefusingConnection(db)
        delivered = sum_with(connection, delivery)
        stored = sum_converted(delivery, tmp_path)

    assert delivered == stored
    assert len(connection.queries) == queries_per_part * len(delivery.parts)


def test_an_unreadable_file_is_named(delivery: Delivery) -> None:
    with open_second_reader() as db, pytest.raises(UnreadableBySecondReader) as caught:
        sum_with(RefusingConnection(db, refuse_always=True), delivery)

    assert str(caught.value) == delivery.parts[0].name
