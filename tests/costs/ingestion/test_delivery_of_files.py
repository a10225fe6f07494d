"""Single files, and folders without a manifest."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Limits, compute_content_hash
from nimbill.costs.ingestion.storage_sources import LocalFiles
from tests.costs.inbox import (
    CSV_TEXT,
    NEW,
    OLD,
    OTHER_CSV_TEXT,
    PERIOD,
    Inbox,
    part_names,
    read_text,
)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def write_parquet(path: Path, rows: int = 1) -> Path:
    pq.write_table(pa.table({"a": ["1"] * rows}), path)
    return path


def test_a_local_file_is_read_in_place(inbox: Inbox) -> None:
    path = inbox.put("report.csv")

    delivery = inbox.fetch("report.csv")

    (part,) = delivery.parts
    assert (part.name, part.path, part.file_type, part.bytes) == (
        "report.csv",
        path,
        "csv",
        len(CSV_TEXT),
    )
    assert part.sha256 == hashlib.sha256(CSV_TEXT).hexdigest()
    assert delivery.content_hash == compute_content_hash([part.sha256])
    assert (delivery.assembly, delivery.assembled_at, delivery.month) == (None, None, None)
    assert delivery.manifest is None
    assert read_text(part) == CSV_TEXT
    assert list(inbox.spool.iterdir()) == []


def test_the_file_type_is_detected_from_the_first_bytes(inbox: Inbox) -> None:
    inbox.put("a", CSV_TEXT)
    inbox.put("b", gzip.compress(OTHER_CSV_TEXT))
    write_parquet(inbox.folder / "c")

    file_types = [part.file_type for part in inbox.fetch("a", "b", "c").parts]

    assert file_types == ["csv", "csv.gz", "parquet"]


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("a.parquet", b"a,b\n1,2\n", "not_parquet"),
        ("a.parquet", b"", "truncated"),
        ("a.parquet", b"PAR1and no end", "truncated"),
        ("a.parquet", b"PAR1", "truncated"),
        ("a.parquet", b"PAR1 footer hidden PARE", "encrypted"),
        ("a.zip", b"a,b\n1,2\n", "not_zip"),
        ("a.zip", b"", "truncated"),
        ("a.zip", b"PK\x03\x04 and no end", "truncated"),
    ],
)
def test_a_name_that_contradicts_the_content_is_refused(
    inbox: Inbox, name: str, content: bytes, rule: str
) -> None:
    inbox.put(name, content)

    error = inbox.fetch_error(name)

    assert (error.file, error.rule) == (name, rule)


def test_a_parquet_file_of_identical_lines_is_refused(inbox: Inbox) -> None:
    identical = pa.table({"a": pa.repeat("1", 1_000_001), "b": pa.repeat("2", 1_000_001)})
    pq.write_table(identical, inbox.folder / "a.parquet")
    assert (inbox.folder / "a.parquet").stat().st_size < 100_000

    assert inbox.fetch_error().rule == "bomb"


def test_a_parquet_file_that_grows_too_much_is_refused(inbox: Inbox) -> None:
    zeros = pa.table({"a": [bytes(2_000_000)]})
    pq.write_table(zeros, inbox.folder / "a.parquet", compression="zstd", use_dictionary=False)

    assert inbox.fetch_error(limits=Limits(bomb_bytes_min=1_000_000)).rule == "bomb"
    assert inbox.fetch_error(limits=Limits(part_bytes_max=1_000_000)).rule == "too_large"
    assert len(inbox.fetch().parts) == 1


def test_an_unreadable_footer_is_reported_by_the_conversion(inbox: Inbox) -> None:
    inbox.put("a.parquet", b"PAR1" + b"nothing here" + b"\x04\0\0\0PAR1")

    assert inbox.fetch().parts[0].file_type == "parquet"


def test_a_footer_that_the_disk_does_not_deliver_is_an_error_of_the_disk(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    write_parquet(inbox.folder / "a.parquet")
    monkeypatch.setattr(pq, "read_metadata", fail)

    with pytest.raises(OSError, match="Input/output error"):
        inbox.fetch()


def test_a_folder_contains_all_cost_files_below_it(inbox: Inbox) -> None:
    inbox.put("b.csv", b"a,b\n5,6\n")
    inbox.put("2026/a.csv.gz", gzip.compress(OTHER_CSV_TEXT))
    write_parquet(inbox.folder / "c.snappy.parquet")
    inbox.put("readme.txt")
    inbox.put(".hidden.csv")
    inbox.put(".trash/old.csv")

    assert part_names(inbox.fetch()) == ["2026/a.csv.gz", "b.csv", "c.snappy.parquet"]


@pytest.mark.parametrize("sources", [(), ("empty",)])
def test_a_folder_without_cost_files_is_refused(inbox: Inbox, sources: tuple[str, ...]) -> None:
    (inbox.folder / "empty").mkdir()

    assert inbox.fetch_error(*sources).rule == "no_parts"


@pytest.mark.parametrize(
    "source", ["nothing.csv", "nothing/", "no\0thing", "x" * 5000, "a/" * 4000]
)
def test_a_missing_source_is_refused(inbox: Inbox, source: str) -> None:
    assert inbox.fetch_error(source).rule == "source_missing"


def test_a_pipe_is_refused_at_once(inbox: Inbox) -> None:
    os.mkfifo(inbox.folder / "a.csv")

    assert inbox.fetch_error("a.csv").rule == "not_a_file"
    assert inbox.fetch_error().rule == "not_a_file"


def test_the_same_content_under_two_names_is_refused(inbox: Inbox) -> None:
    inbox.put("a.csv")
    inbox.put("copy of a.csv")

    error = inbox.fetch_error()

    assert (error.file, error.rule) == ("copy of a.csv", "same_part_twice")
    assert "a.csv" in error.detail
    assert inbox.fetch_error("a.csv", "a.csv").rule == "same_part_twice"


def test_files_with_only_a_header_may_be_identical(inbox: Inbox) -> None:
    for number, content in enumerate([b"a,b\n", b"a,b\n", b"a,b", gzip.compress(b"a,b\r\n")] * 2):
        inbox.put(f"{number}.csv", content)

    assert len(inbox.fetch().parts) == 8


@pytest.mark.parametrize("other", ["report-1.csv.gz", "report-1.parquet", "Report-1.csv.zip"])
def test_the_same_file_in_two_formats_is_refused(inbox: Inbox, other: str) -> None:
    inbox.put("report-1.csv")
    inbox.put(other, OTHER_CSV_TEXT)

    assert inbox.fetch_error().rule == "same_part_twice"


def test_several_versions_without_a_manifest_are_refused(inbox: Inbox) -> None:
    inbox.put(f"{PERIOD}/{OLD}/a.csv")
    inbox.put(f"{PERIOD}/{NEW}/a.csv", OTHER_CSV_TEXT)

    error = inbox.fetch_error()

    assert error.rule == "several_assemblies"
    assert OLD in error.detail
    assert part_names(inbox.fetch(f"{PERIOD}/{NEW}")) == ["a.csv"]


def test_folders_named_by_a_time_are_versions(inbox: Inbox) -> None:
    inbox.put("20261001T030405Z/a.csv")
    inbox.put("20261002T030405Z/a.csv", OTHER_CSV_TEXT)

    assert inbox.fetch_error().rule == "several_assemblies"


@pytest.mark.parametrize(
    "folders",
    [
        ("20260801-20260901", "20260901-20261001"),
        ("data/BILLING_PERIOD=2026-08", "data/BILLING_PERIOD=2026-09"),
        ("year=2026/month=8", "year=2026/month=9"),
    ],
)
def test_one_of_several_months_must_be_specified(inbox: Inbox, folders: tuple[str, str]) -> None:
    august, september = (f"{folder}/part.csv" for folder in folders)
    inbox.put(august)
    inbox.put(september, OTHER_CSV_TEXT)

    error = inbox.fetch_error()

    assert (error.rule, "2026-08, 2026-09" in error.detail) == ("several_months", True)
    assert part_names(inbox.fetch(month="2026-08")) == [august]
    assert part_names(inbox.fetch(month="2026-09")) == [september]
    assert inbox.fetch_error(month="2026-07").rule == "no_parts"


def test_more_parts_than_allowed_are_refused(inbox: Inbox) -> None:
    for number in range(4):
        inbox.put(f"{number}.csv", b"a\n%d\n" % number)

    assert inbox.fetch_error(limits=Limits(parts_max=3)).rule == "too_many_parts"
    assert inbox.fetch_error(limits=Limits(source_files_max=3)).rule == "too_many_files"
    assert len(inbox.fetch(limits=Limits(parts_max=4, source_files_max=4)).parts) == 4


@pytest.mark.parametrize(
    ("error", "rule"), [(PermissionError, "source_denied"), (FileNotFoundError, "changed")]
)
def test_a_file_that_becomes_unreadable_is_refused(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, error: type[OSError], rule: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    inbox.put("a.csv")
    monkeypatch.setattr(LocalFiles, "fetch", fail)

    assert inbox.fetch_error().rule == rule


def test_progress_is_reported_for_each_part(inbox: Inbox) -> None:
    inbox.put("a.csv")
    inbox.put("b.csv", OTHER_CSV_TEXT)

    inbox.fetch()

    assert inbox.notices == ["part 1 of 2: a.csv, 8 bytes", "part 2 of 2: b.csv, 8 bytes"]


def test_names_in_messages_are_printable(inbox: Inbox) -> None:
    name = "a\x1b[31m" + "x" * 120 + ".parquet"
    inbox.put(name, b"not that")

    error = inbox.fetch_error(name)

    assert "\x1b" not in str(error)
    assert "\x1b" not in error.detail


def test_a_delivery_without_sources_is_refused(inbox: Inbox) -> None:
    with pytest.raises(CostFileError) as caught:
        fetch_delivery([], spool=inbox.folder, month=None, limits=Limits(), notify=lambda _: None)

    assert caught.value.rule == "no_parts"
