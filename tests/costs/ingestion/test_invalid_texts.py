"""Texts that are not UTF-8, contain NUL or have another type are refused with file and column."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion import tags
from nimbill.costs.ingestion.parts import FileType, Limits, Part
from nimbill.costs.ingestion.raw_lines import read_layout, split_into_parse_tasks
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.imports.preparation import ImportRequest, prepare_import
from tests.costs.inbox import CSV_TEXT, NEW, Inbox, legacy_manifest
from tests.imports.aws_reports import build_report, report_line

LINES = 20
INVALID = b"\xff\xfeab"
SERVICE = "line_item_product_code"
COST = "line_item_unblended_cost"
TAGS = "resource_tags"


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """A month of CUR 2.0, whose tags are a map."""
    folder = tmp_path_factory.mktemp("month")
    written = write_files(
        SyntheticMonth(lines=LINES), Dialect.aws_cur2, folder, file_format="parquet"
    )
    return pq.read_table(written.parts[0])


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(tmp_path)


def write_with(month: pa.Table, folder: Path, column: str, values: pa.Array) -> Path:
    """Write the month with other values in one column."""
    position = month.column_names.index(column)
    path = folder / "report.parquet"
    pq.write_table(month.set_column(position, column, values), path, store_schema=False)
    return path


def find_error(path: Path) -> CostFileError:
    file_type: FileType = "parquet" if path.suffix == ".parquet" else "csv"
    digest = sha256(path.read_bytes()).hexdigest()
    part = Part(path.name, path, file_type, path.stat().st_size, digest)
    with pytest.raises(CostFileError) as refused:
        _ = [task() for task in split_into_parse_tasks(part, Limits())]
    return refused.value


def as_type(values: list[Any], type_: pa.DataType) -> pa.Array:
    """Texts that Arrow itself would not accept."""
    is_large = pa.types.is_large_string(type_) or pa.types.is_large_binary(type_)
    binary = pa.array(values, pa.large_binary() if is_large else pa.binary())
    return pa.Array.from_buffers(type_, len(values), binary.buffers())


# ── Parquet ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
@pytest.mark.parametrize(
    ("column", "rule", "invalid"),
    [(SERVICE, "encoding", INVALID), (COST, "encoding", INVALID), (SERVICE, "nul", b"a\0b")],
)
def test_an_invalid_text_is_refused_with_line_and_column(
    month: pa.Table, tmp_path: Path, type_: pa.DataType, column: str, rule: str, invalid: bytes
) -> None:
    values = [b"1"] * LINES
    values[7] = invalid

    error = find_error(write_with(month, tmp_path, column, as_type(values, type_)))

    assert (error.file, error.rule) == ("report.parquet", rule)
    assert (error.line, error.column) == (8, column)


@pytest.mark.parametrize("tag", [(INVALID, b"a"), (b"a", INVALID), (b"a\0", b"a")])
def test_an_invalid_tag_is_refused_with_its_column(
    month: pa.Table, tmp_path: Path, tag: tuple[bytes, bytes]
) -> None:
    maps = pa.array([[tag]] * LINES, pa.map_(pa.binary(), pa.binary()))

    error = find_error(write_with(month, tmp_path, TAGS, maps))

    assert error.rule == ("nul" if b"\0" in tag[0] else "encoding")
    assert error.column == TAGS


def test_an_invalid_column_name_is_refused(month: pa.Table, tmp_path: Path) -> None:
    path = write_with(month, tmp_path, SERVICE, month.column(SERVICE))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"line_item_operation", b"line_item_operati\xff\xfe"))
    assert path.read_bytes() != content

    assert find_error(path).rule == "encoding"
    part = Part(path.name, path, "parquet", path.stat().st_size, "")
    with pytest.raises(CostFileError):
        read_layout(part, Limits())


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (SERVICE, pa.array([["a"]] * LINES)),
        (SERVICE, pa.array([{"a": 1}] * LINES)),
        (SERVICE, pa.array([[("a", "b")]] * LINES, pa.map_(pa.string(), pa.string()))),
        (COST, pa.array([True] * LINES)),
        (COST, pa.array([b"123"] * LINES, pa.binary(3))),
        (COST, pa.array([1] * LINES, pa.timestamp("ms"))),
        (COST, pa.array([[1]] * LINES)),
        (TAGS, pa.array([[(1, 2)]] * LINES, pa.map_(pa.int32(), pa.int32()))),
    ],
)
def test_an_unsupported_type_is_refused_with_its_column(
    month: pa.Table, tmp_path: Path, column: str, values: pa.Array
) -> None:
    error = find_error(write_with(month, tmp_path, column, values))

    assert (error.rule, error.column) == ("column_type", column)


def test_an_import_of_an_invalid_text_is_refused_and_does_not_fail(
    month: pa.Table, tmp_path: Path
) -> None:
    values = as_type([INVALID] * LINES, pa.string())
    path = write_with(month, tmp_path, "line_item_line_item_description", values)
    request = ImportRequest(
        organisation_id="org_1",
        import_id="imp_1",
        vendor="aws",
        month=None,
        sources=[str(path)],
        roots=None,
        folder=str(tmp_path / "work"),
        known_deliveries={},
    )

    prepared = prepare_import(request, lambda _progress: None)

    assert prepared.problem == {
        "status": 400,
        "code": "encoding",
        "detail": "The file is not encoded in UTF-8.",
        "file": "report.parquet",
        "line": 1,
        "column": "line_item_line_item_description",
    }


# ── CSV, JSON and names ──────────────────────────────────────────────────────────────────────────


def test_an_invalid_text_in_csv_is_refused_with_line_and_column(tmp_path: Path) -> None:
    lines = [report_line("1"), report_line("2", LineItemDescription='a "quoted"\nMARK')]
    path = tmp_path / "report.csv"
    path.write_bytes(build_report(lines).replace(b"MARK", INVALID))

    error = find_error(path)

    assert (error.rule, error.line) == ("encoding", 4)
    assert error.column == "lineItem/LineItemDescription"


@pytest.mark.parametrize(
    "text", ['{"team": "\\ud800"}', '{"\\udfff": "a"}', '{"team": "\\u0000"}', '"k": ["\\ud83d"]']
)
def test_tags_that_cannot_be_stored_are_unreadable(text: str) -> None:
    column = pa.array([text, '{"team": "\\ud83d\\ude00"}']).dictionary_encode()

    maps, unreadable = tags.from_json(column, str)

    assert unreadable == 1
    assert maps.to_pylist() == [[], [("team", "😀")]]


@pytest.mark.parametrize(
    "content",
    [
        b'{"assemblyId": "\xff\xfe", "reportKeys": ["a.csv"]}',
        b'{"assemblyId": "\\ud800", "reportKeys": ["a.csv"]}',
        b'{"assemblyId": "a\\u0000", "reportKeys": ["a.csv"]}',
        b'{"reportName": "a\\u0000", "reportKeys": ["a.csv"]}',
    ],
)
def test_an_invalid_text_in_a_manifest_is_refused_with_its_name(
    inbox: Inbox, content: bytes
) -> None:
    inbox.put("cur-Manifest.json", content)
    inbox.put("a.csv")

    error = inbox.fetch_error()

    assert (error.rule, error.file) == ("manifest", "cur-Manifest.json")


def test_a_file_name_that_is_not_utf8_is_refused(inbox: Inbox) -> None:
    name = os.fsdecode(b"a\xff.csv")
    (inbox.folder / name).write_bytes(CSV_TEXT)

    error = inbox.fetch_error()

    assert (error.rule, error.file) == ("file_name", "a\N{REPLACEMENT CHARACTER}.csv")


def test_a_file_name_that_is_not_utf8_does_not_matter_if_the_file_is_not_used(
    inbox: Inbox,
) -> None:
    (inbox.folder / os.fsdecode(b"a\xff.csv")).write_bytes(CSV_TEXT)
    inbox.put("b.csv")
    inbox.put_json("cur-Manifest.json", legacy_manifest(NEW, reportKeys=["b.csv"]))

    assert [part.name for part in inbox.fetch().parts] == ["b.csv"]
