"""Files with wrong text: values, headers, lines, characters, months and vendors."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import replace

from nimbill.demo.vendor_files.dialects import Dialect
from tests.proof.bad_file import LINES, BadFile, CostSheet, sheet

AT = 9  # the broken line, if there is one

# fmt: off
NUMBERS = {
    "not a number":          ("NaN", "number"),
    "signalling NaN":        ("sNaN", "number"),
    "infinity":              ("Infinity", "number"),
    "minus infinity":        ("-inf", "number"),
    "2^128 + 5":             (str(2**128 + 5), "number_range"),
    "1e400":                 ("1e400", "number_range"),
    "1e1000000":             ("1e1000000", "number"),
    "too large":             ("10000000000000000", "number_range"),
    "too large below zero":  ("-99999999999999999.5", "number_range"),
    "a million digits":      ("9" * 10**6, "number"),
    "a million decimals":    ("0." + "3" * 10**6, "number"),
    "underscores":           ("1_000", "number"),
    "full-width digits":     ("１２３", "number"),
    "arabic digits":         ("١٢٣", "number"),
    "a fraction sign":       ("½", "number"),
    "a true minus":          ("−5", "number"),
    "thousands":             ("1,000.00", "number"),
    "a decimal comma":       ("1.234,56", "number"),
    "a currency sign":       ("$10.00 ", "number"),
    "in brackets":           ("(5.00)", "number"),
    "hexadecimal":           ("0x1F", "number"),
    "half an exponent":      ("1e", "number"),
    "two signs":             ("+-1", "number"),
    "two points":            ("1.2.3", "number"),
    "a point alone":         (".", "number"),
    "a blank inside":        ("1 000", "number"),
    "a word":                ("free", "number"),
    "a formula":             ("=1+1", "number"),
    "a line feed inside":    ("1\n2", "number"),
}
MOMENTS = {
    "no such day":    "2026-09-31T00:00:00Z",
    "no such month":  "2026-13-01",
    "no such hour":   "2026-09-01T25:00:00Z",
    "a word":         "yesterday",
    "with points":    "01.09.2026",
    "year zero":      "0000-01-01",
    "another zone":   "2026-09-01T00:00:00+09:00",
    "other digits":   "２０２６-09-01",
}
CURRENCIES = {"two letters": "US", "a word": "DOLLAR", "a sign": "$", "other letters": "ＵＳＤ"}
# fmt: on


def bad_texts(dialect: Dialect) -> Iterator[BadFile]:
    valid = sheet(dialect)
    files = (
        *_values(valid),
        *_headers(valid),
        *_lines(valid),
        *_characters(valid),
        *_complete_files(valid),
    )
    yield from (file if file.vendor else replace(file, vendor=valid.vendor) for file in files)


def _file(title: str, content: bytes, *rules: str, **place: object) -> BadFile:
    """A file of the vendor of its sheet, which `bad_texts` fills in."""
    return BadFile(title, {"report.csv": content}, rules, vendor="", **place)  # type: ignore[arg-type]


def _values(valid: CostSheet) -> Iterator[BadFile]:
    def broken(meaning: str, title: str, value: str, *rules: str) -> BadFile:
        content = valid.with_cell(AT, meaning, value).bytes()
        return _file(title, content, *rules, line=AT, column=valid.column(meaning))

    for title, (value, rule) in NUMBERS.items():
        yield broken("cost", f"cost: {title}", value, rule)
    for title, value in MOMENTS.items():
        yield broken("date", f"date: {title}", value, "moment")
    yield broken("period", "period: a word", "soon", "moment")
    for title, value in CURRENCIES.items():
        yield broken("currency", f"currency: {title}", value, "currency")
    for meaning in ("cost", "date", "currency", "payer"):
        if valid.has(meaning):
            for value in ("", "NULL"):
                yield broken(meaning, f"{meaning}: nothing, as {value!r}", value, "empty")
    if valid.dialect in (Dialect.azure_ea, Dialect.azure_mca):
        yield broken("type", "type: of an amortised export", "UnusedReservation", "amortised")
    if valid.has("coverage"):  # the line is usage and has a cost
        covered = "Used" if valid.dialect is Dialect.focus_1_2 else "SavingsPlan"
        content = valid.with_cell(AT, "coverage", covered).bytes()
        place = {"line": AT, "column": valid.column("cost")}
        yield _file("cost: of an amortised export", content, "amortised", **place)


def _headers(valid: CostSheet) -> Iterator[BadFile]:
    header, *rest = valid.rows
    for meaning in ("cost", "currency", "date", "customer"):
        column_name = valid.column(meaning)
        at = header.index(column_name)
        less = valid.with_rows([row[:at] + row[at + 1 :] for row in valid.rows])
        missing = ("column_missing", "unknown_format")
        if (valid.dialect, meaning) != (Dialect.focus_1_2, "customer"):  # an optional column
            yield _file(f"header: no {meaning}", less.bytes(), *missing, line=1)
        twice = valid.with_rows([[*row, row[at]] for row in valid.rows])
        yield _file(
            f"header: {meaning} twice", twice.bytes(), "column_twice", line=1, column=column_name
        )
        in_two_cases = valid.with_rows(
            [[*header, column_name.upper()], *([*row, row[at]] for row in rest)]
        )
        yield _file(
            f"header: {meaning} twice in two cases", in_two_cases.bytes(), "column_twice", line=1
        )
    yield _file("header: none", valid.with_rows(rest).bytes(), "unknown_format", line=1)
    others = valid.with_rows([[f"column {at}" for at in range(len(header))], *rest])
    yield _file("header: only unknown columns", others.bytes(), "unknown_format", line=1)
    wide = valid.with_rows([header + ["x"] * 10**6, *rest])
    yield _file("header: a million columns more", wide.bytes(), "columns", "column_twice")
    blank = b"\n\n" + valid.bytes()
    yield _file("header: after blank lines", blank, "unknown_format", line=1)


def _lines(valid: CostSheet) -> Iterator[BadFile]:
    def row_as(title: str, row: list[str], *rules: str) -> BadFile:
        rows = [list(cells) for cells in valid.rows]
        rows[AT - 1] = row
        return _file(title, valid.with_rows(rows).bytes(), *rules, line=AT)

    broken_row = valid.rows[AT - 1]
    yield row_as("line: a column less", broken_row[:-1], "columns")
    yield row_as("line: a column more", [*broken_row, "more"], "columns")
    yield row_as("line: one column", ["only this"], "columns")
    yield row_as("line: a million columns", ["x"] * 10**6, "columns")
    if valid.dialect is not Dialect.focus_1_2:  # unless it is a line of another provider
        yield row_as("line: the header again", valid.header, "number", "moment", "currency")
    lines = valid.text().split("\n")
    cut = "\n".join([*lines[: LINES - 5], lines[LINES - 5][: len(lines[LINES - 5]) // 2]])
    yield _file("line: the last one cut", cut.encode(), "columns", "unreadable", line=LINES - 4)
    open_quote = [*lines[: AT - 1], '"' + lines[AT - 1], *lines[AT:]]
    faults = ("unreadable", "columns", "line_too_long")
    yield _file("line: a quote that stays open", "\n".join(open_quote).encode(), *faults)
    long = valid.with_rows([*valid.rows[:AT], ["y" * (5 * 2**20), *valid.rows[AT][1:]]])
    yield _file("line: five MiB", long.bytes(), "line_too_long", line=AT + 1)
    returns = valid.text(ends="\r").encode()
    yield _file("line: carriage returns alone", returns, "unreadable", "unknown_format", line=1)


def _characters(valid: CostSheet) -> Iterator[BadFile]:
    text, whole = valid.text(), valid.bytes()
    lines = whole.split(b"\n")

    def at_line(inserted: bytes) -> bytes:
        return b"\n".join([*lines[: AT - 1], inserted + lines[AT - 1], *lines[AT:]])

    yield _file("characters: NUL in a line", at_line(b"\0"), "nul", line=AT)
    yield _file("characters: NUL in the header", b"\0" + whole, "nul", line=1)
    yield _file("characters: NULs after the end", whole + bytes(4096), "nul", line=LINES + 2)
    for title, inserted in {
        "Latin-1": "é".encode("latin-1"),
        "Shift JIS": "請求".encode("shift_jis"),
        "half a character": "請".encode()[:2],
        "a character written too long": b"\xc0\xaf",
        "half a surrogate pair": b"\xed\xa0\x80",
        "beyond Unicode": b"\xf4\x90\x80\x80",
    }.items():
        yield _file(f"characters: {title}", at_line(inserted), "encoding", line=AT)
    for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        wide = text.encode(name)
        yield _file(f"characters: {name}", wide, "encoding", "nul", "unknown_format", line=1)


def _complete_files(valid: CostSheet) -> Iterator[BadFile]:
    other = "azure" if valid.vendor == "aws" else "aws"
    unknown = ("unknown_format",)
    yield _file("whole: nothing", b"", *unknown, line=1)
    yield _file("whole: one line feed", b"\n", *unknown, line=1)
    yield _file("whole: semicolons", valid.text(sep=";").encode(), *unknown, line=1)
    yield _file("whole: tabs", valid.text(sep="\t").encode(), *unknown, line=1)
    page = f"<html><body><pre>{html.escape(valid.text())}</pre></body></html>"
    yield _file("whole: a web page", page.encode(), *unknown, "columns")
    objects = [dict(zip(valid.header, row, strict=True)) for row in valid.rows[1:]]
    yield _file("whole: JSON", json.dumps(objects).encode(), *unknown, line=1)
    yield _file("whole: random bytes", bytes(range(256)) * 40, *unknown, "encoding", "nul", line=1)
    yield replace(
        _file("whole: of another vendor", valid.bytes(), "vendor", "vendor_absent"), vendor=other
    )
    yield replace(_file("whole: of another month", valid.bytes(), "month", line=2), month="2026-08")
    july = "07/01/2026" if valid.vendor == "azure" else "2026-07-01T00:00:00Z"
    two = valid.with_cell(AT, "period", july).bytes()
    yield _file("whole: two months in one file", two, "several_months", "month")
    of_month = replace(
        _file("whole: a line of another month", two, "month"),
        line=AT,
        column=valid.column("period"),
    )
    yield replace(of_month, month="2026-09")
    august = valid.with_rows(
        [
            valid.header,
            *valid.with_cell(2, "period", july).rows[1:2],
        ]
    )
    yield BadFile(
        "whole: two parts of two months",
        {"report-1.csv": valid.bytes(), "report-2.csv": august.bytes()},
        ("several_months", "month"),
        vendor="",
    )
