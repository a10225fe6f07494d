"""Reads CSV files that people send: known headers, one record per line, every error by line."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from nimbill.audit.records import AuditedChange, describe_change
from nimbill.foundation.errors import Conflict, Invalid, Unreadable, Violation
from nimbill.foundation.spreadsheet_text import unescape_formula
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.http.downloads import CSV_TYPE
from nimbill.http.request_bodies import parse_body

if TYPE_CHECKING:
    from litestar import Request


CSV_BYTES_MAX = 4 * 2**20
RECORDS_MAX = 2_000  # each has an audit row, and other changes wait for these
LISTED_ERRORS_MAX = 5_000
HEADER_LINE = 1
_ENCODINGS = ("utf-8-sig", "cp932")  # cp932: what spreadsheets in Japan write by default

B = TypeVar("B")


class CsvColumn(NamedTuple):
    """A field, and the headers under which files have it beside its own name."""

    field: str
    headers: tuple[str, ...]
    required: bool = False
    convert: Callable[[str], Any] = str
    default: Any = None  # the value of an empty cell


class CsvError(NamedTuple):
    line: int
    header: str
    rule: str
    is_conflict: bool = False  # the line is valid but conflicts with stored records


class CsvRecord(NamedTuple):
    line: int  # where it begins; a quoted cell may contain line breaks
    values: dict[str, Any]  # by field, without empty cells


@dataclass(slots=True)
class CsvTable:
    """The records of a file, and the errors found so far."""

    headers: Mapping[str, str]  # the header of each field, as the file has it
    records: list[CsvRecord] = field(default_factory=list)
    errors: list[CsvError] = field(default_factory=list)

    def add_error(
        self, record: CsvRecord, name: str, rule: str, *, is_conflict: bool = False
    ) -> None:
        header = self.headers.get(name, name)
        self.errors.append(CsvError(record.line, header, rule, is_conflict))

    def report_values(
        self, name: str, values: Collection[str], rule: str, *, is_conflict: bool = False
    ) -> None:
        """Report every line that has one of these values."""
        for record in self.records:
            if record.values.get(name) in values:
                self.add_error(record, name, rule, is_conflict=is_conflict)

    def report_taken(self, name: str, values: Collection[str]) -> None:
        """Report values that stored records have already."""
        self.report_values(name, values, "not in use yet", is_conflict=True)

    def find_duplicates(self, name: str) -> None:
        """Report a value that an earlier line has as well."""
        first_lines: dict[str, int] = {}
        for record in self.records:
            value = record.values.get(name)
            if value is None:
                continue
            first_line = first_lines.setdefault(value, record.line)
            if first_line != record.line:
                self.add_error(record, name, f"once in the file; line {first_line} has it already")

    def list_values(self, name: str) -> list[str]:
        """List the distinct values of a field."""
        values = (record.values.get(name) for record in self.records)
        return list(dict.fromkeys(value for value in values if value is not None))

    def refuse_errors(self, conflict_code: str) -> None:
        """Raise every error at once: 409 if all are conflicts, otherwise 400."""
        if not self.errors:
            return
        violations = list(_list_violations(self.errors))
        detail = "Nothing was created. Each violation names a line and a column of the file."
        if all(error.is_conflict for error in self.errors):
            raise Conflict(conflict_code, detail, violations)
        raise Invalid("rule_broken", detail, violations)


class ParsedRecord(NamedTuple, Generic[B]):
    record: CsvRecord
    body: B


def describe_creation(
    actor: Mapping[str, Any], record: CsvRecord, *, action: str, resource: str, company_id: str
) -> AuditedChange:
    """The audit row of what a line created. `actor` is what describes the caller there."""
    return describe_change(
        actor,
        action=action,
        resource=resource,
        company_id=company_id,
        sent={"csv_line": record.line, **record.values},
    )


async def read_csv_request(request: Request[Any, Any, Any]) -> bytes:
    """Return the body of a request whose content type is text/csv."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != CSV_TYPE:
        raise Unreadable(415, "media_type", f"The body must be {CSV_TYPE}.")
    return await request.body()


def read_csv_table(
    content: bytes, columns: Sequence[CsvColumn], ignored: Collection[str] = ()
) -> CsvTable:
    """Read the file. Columns under an ignored header may be present and are not read."""
    if len(content) > CSV_BYTES_MAX:
        raise Unreadable(413, "body_too_large", "The file is larger than 4 MiB.")
    rows = _iterate_rows(_decode(content))
    _, header = next(rows, (HEADER_LINE, []))
    fields = _read_header(header, columns, ignored)
    by_field = {column.field: column for column in columns}
    names = {name: header[index].strip() for index, name in enumerate(fields) if name in by_field}
    table = CsvTable(names)
    for line, cells in rows:
        if any(cells):
            table.records.append(_read_record(table, line, cells, fields, by_field))
        if len(table.records) > RECORDS_MAX:
            raise _refuse_file(f"at most {RECORDS_MAX:,} lines below the header")
    if not table.records:
        raise _refuse_file("a header and at least one line below it")
    return table


def parse_records(
    table: CsvTable, body_type: type[B], vendors: Sequence[str] = BILLED_VENDORS
) -> list[ParsedRecord[B]]:
    """Parse each record like a request body; add an error for each broken rule.

    `vendors` are those that the organisation bills.
    """
    parsed = []
    for record in table.records:
        try:
            parsed.append(ParsedRecord(record, parse_body(body_type, record.values, vendors)))
        except Invalid as refusal:
            for violation in refusal.violations:
                table.add_error(record, violation.field, violation.rule)
    return parsed


def parse_boolean(text: str) -> bool | str:
    """Any other text is returned, so that the body check reports it."""
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


def _decode(content: bytes) -> str:
    for encoding in _ENCODINGS:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            raise Invalid("malformed_body", "The file contains a NUL character.")
        return text
    raise Invalid("malformed_body", "The file is neither UTF-8 nor CP932.")


def _iterate_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = HEADER_LINE
    while True:
        try:
            row = next(reader, None)
        except csv.Error:
            detail = f"Line {line} cannot be read as CSV. Check its quotation marks and its length."
            raise Invalid("malformed_body", detail) from None
        if row is None:
            return
        yield line, row
        line = reader.line_num + 1


def _read_header(
    header: Sequence[str], columns: Sequence[CsvColumn], ignored: Collection[str]
) -> list[str | None]:
    """Return the field of each column, or None if the column is not read."""
    known = {
        name.casefold(): column.field
        for column in columns
        for name in (column.field, *column.headers)
    }
    skipped = {name.casefold() for name in ignored}
    fields: list[str | None] = []
    errors = []
    for number, cell in enumerate(header, start=1):
        name = cell.strip().casefold()
        found = known.get(name)
        if found is None and name and name not in skipped:
            errors.append(CsvError(HEADER_LINE, f"column {number}", _describe_headers(columns)))
        elif found is not None and found in fields:
            errors.append(CsvError(HEADER_LINE, f"column {number}", "a header that occurs once"))
        fields.append(found)
    errors += [
        CsvError(HEADER_LINE, column.field, "required, also as " + ", ".join(column.headers))
        for column in columns
        if column.required and column.field not in fields
    ]
    if errors:
        detail = "Nothing was created. The header of the file is invalid."
        raise Invalid("rule_broken", detail, list(_list_violations(errors)))
    return fields


def _describe_headers(columns: Sequence[CsvColumn]) -> str:
    return "a header that is one of " + ", ".join(column.field for column in columns)


def _read_record(
    table: CsvTable,
    line: int,
    cells: Sequence[str],
    fields: Sequence[str | None],
    columns: Mapping[str, CsvColumn],
) -> CsvRecord:
    record = CsvRecord(line, {})
    for index, cell in enumerate(cells):
        name = fields[index] if index < len(fields) else None
        if name is not None and cell:
            record.values[name] = columns[name].convert(unescape_formula(cell))
        elif cell and index >= len(fields):
            table.errors.append(CsvError(line, f"column {index + 1}", "a column with a header"))
    for column in columns.values():
        if column.default is not None:
            record.values.setdefault(column.field, column.default)
    return record


def _refuse_file(rule: str) -> Invalid:
    return Invalid("rule_broken", "Nothing was created.", [Violation("body", rule)])


def _list_violations(errors: Sequence[CsvError]) -> Iterator[Violation]:
    ordered = sorted(errors, key=lambda error: error.line)
    for error in ordered[:LISTED_ERRORS_MAX]:
        yield Violation(f"line {error.line}, {error.header}", error.rule)
    others = len(ordered) - LISTED_ERRORS_MAX
    if others > 0:
        yield Violation("body", f"{others:,} more errors")
