"""CSV files that people send: encodings, headers, quoting, limits, and errors by line."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.errors import Conflict, Invalid, ServiceError, Unreadable
from nimbill.foundation.spreadsheet_text import escape_formula
from nimbill.http import csv_bodies
from nimbill.http.csv_bodies import (
    CsvColumn,
    CsvTable,
    parse_boolean,
    parse_records,
    read_csv_table,
)
from nimbill.http.request_bodies import Body, text_length

COLUMNS = (
    CsvColumn("code", ("コード",), required=True),
    CsvColumn("label", ("名前",)),
    CsvColumn("active", ("有効",), convert=parse_boolean, default=True),
)


class SampleCsvBody(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("csv-imports")

    code: Annotated[str, text_length(2, 4)]
    label: str | None = None
    active: bool


def read_text(text: str, encoding: str = "utf-8") -> CsvTable:
    return read_csv_table(text.encode(encoding), COLUMNS, ("メモ",))


def list_values(table: CsvTable) -> list[dict[str, object]]:
    return [record.values for record in table.records]


def check_text(text: str) -> None:
    table = read_text(text)
    parse_records(table, SampleCsvBody)
    table.find_duplicates("code")
    table.refuse_errors("code_taken")


def find_errors(text: str) -> list[tuple[str, str]]:
    """Every error of reading and parsing, as a caller sees it."""
    with pytest.raises(ServiceError) as refusal:
        check_text(text)
    return [(violation.field, violation.rule) for violation in refusal.value.violations]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_common_encodings_and_line_ends_are_read(encoding: str, line_end: str) -> None:
    text = line_end.join(["コード,名前,有効", 'a1,"髙橋, 一郎",FALSE', "b2,,", ""])

    table = read_text(text, encoding)

    assert list_values(table) == [
        {"code": "a1", "label": "髙橋, 一郎", "active": False},
        {"code": "b2", "active": True},
    ]


def test_headers_ignore_case_and_order_and_may_be_ignored() -> None:
    table = read_text("メモ,LABEL,Code,\nnot read,x,a1,\n")

    assert list_values(table) == [{"label": "x", "code": "a1", "active": True}]


def test_a_record_is_named_by_its_first_line() -> None:
    table = read_text('code,label\na1,"two\nlines"\n\n,,\nb2,x\n')

    assert [record.line for record in table.records] == [2, 6]


@pytest.mark.parametrize("text", ["=1+1", "+81-3-1234-5678", "'=1", "-", "plain", "'plain"])
def test_a_cell_that_an_export_escaped_is_restored(text: str) -> None:
    table = read_text(f"code,label\na1,{escape_formula(text)}\n")

    assert table.records[0].values["label"] == text


def test_every_error_is_listed_by_line_and_column() -> None:
    errors = find_errors("コード,名前,有効\na1,x,perhaps\n,y,1\nb2,y,0,more\ntoolong,z,\na1,,\n")

    assert errors == [
        ("line 2, 有効", "true or false"),
        ("line 3, コード", "required"),
        ("line 4, column 4", "a column with a header"),
        ("line 5, コード", "length 2 to 4"),
        ("line 6, コード", "once in the file; line 2 has it already"),
    ]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("label\nx\n", "line 1, code"),
        ("code,secret\na1,x\n", "line 1, column 2"),
        ("code,コード\na1,x\n", "line 1, column 2"),
        ("", "line 1, code"),
        ("code\n", "body"),
        ("code\n\n,\n", "body"),
    ],
)
def test_an_invalid_header_and_an_empty_file_are_refused(text: str, field: str) -> None:
    ((found, rule),) = find_errors(text)

    assert found == field
    assert "secret" not in rule


@pytest.mark.parametrize(
    "content", [b"code\na\0b\n", b'code\n"a1\n', b'code\n"a1"x\n', b"code\n\x81\n", b"\xff\xfec\0"]
)
def test_an_unreadable_file_is_refused(content: bytes) -> None:
    with pytest.raises(Invalid) as refusal:
        read_csv_table(content, COLUMNS)

    assert refusal.value.code == "malformed_body"


def test_long_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_bodies, "RECORDS_MAX", 2)
    assert len(read_text("code\na1\nb2\n").records) == 2

    assert find_errors("code\na1\nb2\nc3\n") == [("body", "at most 2 lines below the header")]
    with pytest.raises(Unreadable):
        read_csv_table(b"x" * (csv_bodies.CSV_BYTES_MAX + 1), COLUMNS)


def test_a_long_list_of_errors_ends_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_bodies, "LISTED_ERRORS_MAX", 1)

    errors = find_errors("code\nx\ny\nz\n")

    assert errors == [("line 2, code", "length 2 to 4"), ("body", "2 more errors")]


def test_conflicts_alone_are_a_conflict_and_with_other_errors_a_broken_rule() -> None:
    table = read_text("code\na1\nb2\n")
    table.add_error(table.records[0], "code", "not in use yet", is_conflict=True)
    with pytest.raises(Conflict) as conflict:
        table.refuse_errors("code_taken")
    assert conflict.value.code == "code_taken"

    table.add_error(table.records[1], "label", "shorter")
    with pytest.raises(Invalid) as refusal:
        table.refuse_errors("code_taken")
    assert len(refusal.value.violations) == 2
