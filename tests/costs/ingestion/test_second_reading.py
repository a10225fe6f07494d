"""The second reading runs beside the first, says the same, and ends with it."""

import time
from pathlib import Path
from typing import Literal, cast

import duckdb
import pytest

from nimbill.costs.ingestion import second_reading_process
from nimbill.costs.ingestion.conversion import convert
from nimbill.costs.ingestion.delivery import Delivery, Limits, deliver
from nimbill.costs.ingestion.second_reading import (
    Sums,
    UnreadableBySecondReader,
    second_program,
    sums_of_delivery,
    sums_of_lines,
)
from nimbill.costs.ingestion.second_reading_process import SecondReading
from nimbill.demo.vendor_files.writing import Dialect, Month, write_files

LIMITS = Limits()


def delivered(folder: Path, form: Literal["csv", "csv.gz"], *, lines: int = 2_000) -> Delivery:
    month, into = Month(lines=lines), folder / "in"
    parts = write_files(month, Dialect.aws_cur, into, form=form, parts=2).parts
    spool = folder / "spool"
    spool.mkdir(parents=True)
    return deliver(
        [str(part) for part in parts], spool=spool, month=None, limits=LIMITS, tell=lambda _: None
    )


@pytest.fixture
def delivery(tmp_path: Path) -> Delivery:
    return delivered(tmp_path, "csv.gz")


@pytest.mark.parametrize("beside_from", [1, 10**9])
def test_beside_or_after_it_finds_the_same(
    delivery: Delivery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside_from: int
) -> None:
    monkeypatch.setattr(second_reading_process, "BESIDE_FROM_BYTES", beside_from)
    told: list[str] = []
    with SecondReading(delivery, vendor="aws", limits=LIMITS) as second:
        into = tmp_path / "lines"
        convert(
            delivery,
            vendor="aws",
            month=None,
            into=into,
            limits=LIMITS,
            cores_left=second.cores,
        )
        sums = second.sums(told.append)

    assert sum(found.lines for found in sums.values()) == 2_000
    # whoever reads beside leaves it to the first to tell how far it is
    assert told == ([] if beside_from == 1 else [part.name for part in delivery.parts])


def test_an_error_of_the_first_ends_it_whenever_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, before the second has asked anything, and in the middle of what it asks."""
    monkeypatch.setattr(second_reading_process, "BESIDE_FROM_BYTES", 1)
    for number, seconds in enumerate((0, 0.05)):
        delivery = delivered(tmp_path / str(number), "csv.gz", lines=100_000)
        second = SecondReading(delivery, vendor="aws", limits=LIMITS)

        with pytest.raises(ZeroDivisionError):
            _fail_after(seconds, second)

        assert second._beside is not None
        assert isinstance(second._beside.exception(timeout=0), duckdb.InterruptException)


def _fail_after(seconds: float, second: SecondReading) -> None:
    with second:
        time.sleep(seconds)
        raise ZeroDivisionError


class Refuses:
    """A second program whose threads cannot share a file, as happens with some long ones."""

    def __init__(self, db: duckdb.DuckDBPyConnection, *, even_by_one_thread: bool = False) -> None:
        self._db = db
        self._even_by_one_thread = even_by_one_thread
        self.asked: list[str] = []

    def execute(self, question: str) -> duckdb.DuckDBPyConnection:
        self.asked.append(question)
        if self._even_by_one_thread or "parallel = false" not in question:
            raise duckdb.NotImplementedException("does not support a full read on this file")
        return self._db.execute(question)


def sums_by(program: object, delivery: Delivery) -> Sums:
    db = cast("duckdb.DuckDBPyConnection", program)
    return sums_of_delivery(delivery, db, vendor="aws", limits=LIMITS, tell=lambda _: None)


def converted_sums(delivery: Delivery, folder: Path) -> Sums:
    into = folder / "lines"
    converted = convert(delivery, vendor="aws", month=None, into=into, limits=LIMITS)
    return sums_of_lines([file.path for file in converted.files])


@pytest.mark.parametrize(("form", "times"), [("csv", 2), ("csv.gz", 1)])
def test_what_threads_cannot_share_is_read_by_one(
    tmp_path: Path, form: Literal["csv", "csv.gz"], times: int
) -> None:
    """What is gzipped is read so from the start: one of them would have to unpack all of it."""
    delivery = delivered(tmp_path, form)
    with second_program() as db:
        refuses = Refuses(db)
        found = sums_by(refuses, delivery)
        stored = converted_sums(delivery, tmp_path)

    assert found == stored
    assert len(refuses.asked) == times * len(delivery.parts)


def test_what_not_even_one_thread_reads_is_told(delivery: Delivery) -> None:
    with second_program() as db, pytest.raises(UnreadableBySecondReader) as unreadable:
        sums_by(Refuses(db, even_by_one_thread=True), delivery)

    assert str(unreadable.value) == delivery.parts[0].name
