"""Files named one by one, and folders without a manifest: all of it counts, and nothing twice."""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.ingestion.delivery import CostFileError, Limits, deliver
from nimbill.costs.ingestion.parts import identity_of
from nimbill.costs.ingestion.storage_sources import LocalFiles
from tests.costs.small_files import NEW, OLD, OTHER, PERIOD, TEXT, Inbox, names, text_of


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def parquet(path: Path, rows: int = 1) -> Path:
    pq.write_table(pa.table({"a": ["1"] * rows}), path)
    return path


def test_a_file_is_one_part_read_where_it_lies(inbox: Inbox) -> None:
    path = inbox.put("report.csv")

    delivery = inbox.take("report.csv")

    (part,) = delivery.parts
    assert (part.name, part.path, part.form, part.bytes) == ("report.csv", path, "csv", len(TEXT))
    assert part.sha256 == hashlib.sha256(TEXT).hexdigest()
    assert delivery.identity == identity_of([part.sha256])
    assert (delivery.assembly, delivery.assembled_at, delivery.month) == (None, None, None)
    assert delivery.manifest is None
    assert text_of(part) == TEXT
    assert list(inbox.spool.iterdir()) == []


def test_what_a_file_is_shows_in_its_first_bytes(inbox: Inbox) -> None:
    inbox.put("a", TEXT)
    inbox.put("b", gzip.compress(OTHER))
    parquet(inbox.folder / "c")

    forms = [part.form for part in inbox.take("a", "b", "c").parts]

    assert forms == ["csv", "csv.gz", "parquet"]


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
def test_a_name_that_says_otherwise_is_refused(
    inbox: Inbox, name: str, content: bytes, rule: str
) -> None:
    inbox.put(name, content)

    refused = inbox.refusal(name)

    assert (refused.file, refused.rule) == (name, rule)


def test_a_parquet_file_of_lines_that_are_all_alike_is_refused(inbox: Inbox) -> None:
    alike = pa.table({"a": pa.repeat("1", 1_000_001), "b": pa.repeat("2", 1_000_001)})
    pq.write_table(alike, inbox.folder / "a.parquet")
    assert (inbox.folder / "a.parquet").stat().st_size < 100_000

    assert inbox.refusal().rule == "bomb"


def test_a_parquet_file_that_grows_too_much_is_refused(inbox: Inbox) -> None:
    zeros = pa.table({"a": [bytes(2_000_000)]})
    pq.write_table(zeros, inbox.folder / "a.parquet", compression="zstd", use_dictionary=False)

    assert inbox.refusal(limits=Limits(bomb_bytes_min=1_000_000)).rule == "bomb"
    assert inbox.refusal(limits=Limits(part_bytes_max=1_000_000)).rule == "too_large"
    assert len(inbox.take().parts) == 1


def test_a_footer_that_cannot_be_read_is_left_to_whoever_reads_the_lines(inbox: Inbox) -> None:
    inbox.put("a.parquet", b"PAR1" + b"nothing here" + b"\x04\0\0\0PAR1")

    assert inbox.take().parts[0].form == "parquet"


def test_a_folder_is_everything_beneath_it_that_is_a_cost_file(inbox: Inbox) -> None:
    inbox.put("b.csv", b"a,b\n5,6\n")
    inbox.put("2026/a.csv.gz", gzip.compress(OTHER))
    parquet(inbox.folder / "c.snappy.parquet")
    inbox.put("readme.txt")
    inbox.put(".hidden.csv")
    inbox.put(".trash/old.csv")

    assert names(inbox.take()) == ["2026/a.csv.gz", "b.csv", "c.snappy.parquet"]


@pytest.mark.parametrize("sources", [(), ("empty",)])
def test_a_folder_without_cost_files_is_refused(inbox: Inbox, sources: tuple[str, ...]) -> None:
    (inbox.folder / "empty").mkdir()

    assert inbox.refusal(*sources).rule == "no_parts"


@pytest.mark.parametrize(
    "source", ["nothing.csv", "nothing/", "no\0thing", "x" * 5000, "a/" * 4000]
)
def test_what_is_not_there_is_refused(inbox: Inbox, source: str) -> None:
    assert inbox.refusal(source).rule == "source_missing"


def test_a_pipe_is_refused_and_not_waited_for(inbox: Inbox) -> None:
    os.mkfifo(inbox.folder / "a.csv")

    assert inbox.refusal("a.csv").rule == "not_a_file"
    assert inbox.refusal().rule == "not_a_file"


def test_the_same_content_under_two_names_is_refused(inbox: Inbox) -> None:
    inbox.put("a.csv")
    inbox.put("copy of a.csv")

    refused = inbox.refusal()

    assert (refused.file, refused.rule) == ("copy of a.csv", "same_part_twice")
    assert "a.csv" in refused.detail
    assert inbox.refusal("a.csv", "a.csv").rule == "same_part_twice"


def test_a_header_alone_may_come_any_number_of_times(inbox: Inbox) -> None:
    for number, content in enumerate([b"a,b\n", b"a,b\n", b"a,b", gzip.compress(b"a,b\r\n")] * 2):
        inbox.put(f"{number}.csv", content)

    assert len(inbox.take().parts) == 8


@pytest.mark.parametrize("other", ["report-1.csv.gz", "report-1.parquet", "Report-1.csv.zip"])
def test_two_forms_of_one_file_are_refused(inbox: Inbox, other: str) -> None:
    inbox.put("report-1.csv")
    inbox.put(other, OTHER)

    assert inbox.refusal().rule == "same_part_twice"


def test_versions_side_by_side_without_a_manifest_are_refused(inbox: Inbox) -> None:
    inbox.put(f"{PERIOD}/{OLD}/a.csv")
    inbox.put(f"{PERIOD}/{NEW}/a.csv", OTHER)

    refused = inbox.refusal()

    assert refused.rule == "several_assemblies"
    assert OLD in refused.detail
    assert names(inbox.take(f"{PERIOD}/{NEW}")) == ["a.csv"]


def test_versions_named_by_their_moment_are_versions_too(inbox: Inbox) -> None:
    inbox.put("20261001T030405Z/a.csv")
    inbox.put("20261002T030405Z/a.csv", OTHER)

    assert inbox.refusal().rule == "several_assemblies"


@pytest.mark.parametrize(
    "folders",
    [
        ("20260801-20260901", "20260901-20261001"),
        ("data/BILLING_PERIOD=2026-08", "data/BILLING_PERIOD=2026-09"),
        ("year=2026/month=8", "year=2026/month=9"),
    ],
)
def test_of_several_months_one_must_be_named(inbox: Inbox, folders: tuple[str, str]) -> None:
    august, september = (f"{folder}/part.csv" for folder in folders)
    inbox.put(august)
    inbox.put(september, OTHER)

    refused = inbox.refusal()

    assert (refused.rule, "2026-08, 2026-09" in refused.detail) == ("several_months", True)
    assert names(inbox.take(month="2026-08")) == [august]
    assert names(inbox.take(month="2026-09")) == [september]
    assert inbox.refusal(month="2026-07").rule == "no_parts"


def test_more_parts_than_allowed_are_refused(inbox: Inbox) -> None:
    for number in range(4):
        inbox.put(f"{number}.csv", b"a\n%d\n" % number)

    assert inbox.refusal(limits=Limits(parts_max=3)).rule == "too_many_parts"
    assert inbox.refusal(limits=Limits(listed_max=3)).rule == "too_many_files"
    assert len(inbox.take(limits=Limits(parts_max=4, listed_max=4)).parts) == 4


@pytest.mark.parametrize(
    ("error", "rule"), [(PermissionError, "source_denied"), (FileNotFoundError, "changed")]
)
def test_what_cannot_be_read_any_more_is_refused(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, error: type[OSError], rule: str
) -> None:
    def fails(*_: object) -> None:
        raise error

    inbox.put("a.csv")
    monkeypatch.setattr(LocalFiles, "bring", fails)

    assert inbox.refusal().rule == rule


def test_progress_is_told_part_by_part(inbox: Inbox) -> None:
    inbox.put("a.csv")
    inbox.put("b.csv", OTHER)

    inbox.take()

    assert inbox.told == ["part 1 of 2: a.csv, 8 bytes", "part 2 of 2: b.csv, 8 bytes"]


def test_messages_show_names_cut_and_clean(inbox: Inbox) -> None:
    name = "a\x1b[31m" + "x" * 120 + ".parquet"
    inbox.put(name, b"not that")

    refused = inbox.refusal(name)

    assert "\x1b" not in str(refused)
    assert "\x1b" not in refused.detail


def test_a_delivery_of_nothing_at_all_is_refused(inbox: Inbox) -> None:
    with pytest.raises(CostFileError) as caught:
        deliver([], spool=inbox.folder, month=None, limits=Limits(), tell=lambda _: None)

    assert caught.value.rule == "no_parts"
