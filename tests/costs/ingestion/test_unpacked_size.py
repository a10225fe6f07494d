"""All files of a delivery together have limits: a thousand small bombs are one bomb."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.conversion import convert_delivery
from nimbill.costs.ingestion.parts import Limits
from tests.costs.inbox import Inbox
from tests.costs.ingestion.test_delivery_zipped import build_zip
from tests.imports.aws_reports import build_report, report_line

SMALL_BOMBS = Limits(bomb_bytes_min=1_000_000)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def test_the_members_of_a_zip_file_are_added_up(inbox: Inbox) -> None:
    members = [(f"{n}.csv", b"a\n%d\n" % n + b"\n" * 200_000) for n in range(8)]
    inbox.put("month.zip", build_zip(*members))

    error = inbox.fetch_error(limits=SMALL_BOMBS)

    assert (error.rule, error.file) == ("bomb", "month.zip/4.csv")
    assert list(inbox.spool.iterdir()) == []


def test_the_members_of_several_zip_files_are_counted_together(inbox: Inbox) -> None:
    for name in ("a", "b"):
        inbox.put(
            f"{name}.zip",
            build_zip(*[(f"{name}{n}.csv", f"a\n{name}{n}\n".encode()) for n in range(6)]),
        )

    assert len(inbox.fetch(limits=Limits(zip_members_max=12)).parts) == 12
    error = inbox.fetch_error(limits=Limits(zip_members_max=11))
    assert (error.rule, error.file) == ("too_many_parts", "b.zip")
    assert "11" in error.detail


def test_the_rows_of_all_parquet_files_are_added_up(inbox: Inbox) -> None:
    for number in range(3):
        values = pa.array([number] * 400_000, pa.int8())
        pq.write_table(pa.table({"a": values}), inbox.folder / f"{number}.parquet")

    error = inbox.fetch_error()

    assert (error.rule, error.file) == ("bomb", "2.parquet")


def test_the_text_of_all_compressed_files_is_added_up(inbox: Inbox, tmp_path: Path) -> None:
    """The size of a gzip file is only known after it was read."""
    for number in range(4):
        lines = [report_line("1", UsageAccountId=f"{number:012}")] * 3_000
        inbox.put(f"{number}.csv.gz", gzip.compress(build_report(lines), mtime=0))
    text_bytes = len(gzip.decompress((inbox.folder / "0.csv.gz").read_bytes()))
    limits = Limits(bomb_bytes_min=2 * text_bytes, bomb_ratio_max=2)

    with pytest.raises(CostFileError) as refused:
        convert_delivery(
            inbox.fetch(), vendor="aws", month=None, into=tmp_path / "lines", limits=limits
        )

    assert (refused.value.rule, refused.value.file) == ("bomb", "2.csv.gz")


def test_the_whole_delivery_has_a_maximum_size(inbox: Inbox, tmp_path: Path) -> None:
    for number in range(3):
        lines = [report_line("1", UsageAccountId=f"{number:012}")]
        inbox.put(f"{number}.csv", build_report(lines))
    size = (inbox.folder / "0.csv").stat().st_size

    with pytest.raises(CostFileError) as refused:
        convert_delivery(
            inbox.fetch(),
            vendor="aws",
            month=None,
            into=tmp_path / "lines",
            limits=Limits(delivery_bytes_max=2 * size),
        )

    assert (refused.value.rule, refused.value.file) == ("delivery_too_large", "2.csv")
