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
    "signalling not":        ("sNaN", "number"),
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
    sound = sheet(dialect)
    made = (*_values(sound), *_headers(sound), *_lines(sound), *_characters(sound), *_wholes(sound))
    yield from (one if one.vendor else replace(one, vendor=sound.vendor) for one in made)


def _file(title: str, content: bytes, *rules: str, **place: object) -> BadFile:
    """A file of the sheet's own vendor, which is filled in at the end."""
    return BadFile(title, {"report.csv": content}, rules, vendor="", **place)  # type: ignore[arg-type]


def _values(sound: CostSheet) -> Iterator[BadFile]:
    def spoilt(meaning: str, title: str, value: str, *rules: str) -> BadFile:
        content = sound.with_cell(AT, meaning, value).bytes()
        return _file(title, content, *rules, line=AT, column=sound.column(meaning))

    for title, (value, rule) in NUMBERS.items():
        yield spoilt("cost", f"cost: {title}", value, rule)
    for title, value in MOMENTS.items():
        yield spoilt("date", f"date: {title}", value, "moment")
    yield spoilt("period", "period: a word", "soon", "moment")
    for title, value in CURRENCIES.items():
        yield spoilt("currency", f"currency: {title}", value, "currency")
    for meaning in ("cost", "date", "currency", "payer"):
        if sound.has(meaning):
            for value in ("", "NULL"):
                yield spoilt(meaning, f"{meaning}: nothing, as {value!r}", value, "empty")
    if sound.dialect in (Dialect.azure_ea, Dialect.azure_mca):
        yield spoilt("type", "type: of an amortised export", "UnusedReservation", "amortised")


def _headers(sound: CostSheet) -> Iterator[BadFile]:
    header, *rest = sound.rows
    for meaning in ("cost", "currency", "date", "customer"):
        gone = sound.column(meaning)
        at = header.index(gone)
        less = sound.with_rows([row[:at] + row[at + 1 :] for row in sound.rows])
        missing = ("column_missing", "unknown_format")
        yield _file(f"header: no {meaning}", less.bytes(), *missing, line=1)
        twice = sound.with_rows([[*row, row[at]] for row in sound.rows])
        yield _file(f"header: {meaning} twice", twice.bytes(), "column_twice", line=1, column=gone)
        shouted = sound.with_rows([[*header, gone.upper()], *([*row, row[at]] for row in rest)])
        yield _file(
            f"header: {meaning} twice in two cases", shouted.bytes(), "column_twice", line=1
        )
    yield _file("header: none", sound.with_rows(rest).bytes(), "unknown_format", line=1)
    others = sound.with_rows([[f"column {at}" for at in range(len(header))], *rest])
    yield _file("header: of nothing known", others.bytes(), "unknown_format", line=1)
    wide = sound.with_rows([header + ["x"] * 10**6, *rest])
    yield _file("header: a million columns more", wide.bytes(), "columns", "column_twice")
    blank = b"\n\n" + sound.bytes()
    yield _file("header: after blank lines", blank, "unknown_format", line=1)


def _lines(sound: CostSheet) -> Iterator[BadFile]:
    def row_as(title: str, row: list[str], *rules: str) -> BadFile:
        rows = [list(one) for one in sound.rows]
        rows[AT - 1] = row
        return _file(title, sound.with_rows(rows).bytes(), *rules, line=AT)

    spoilt = sound.rows[AT - 1]
    yield row_as("line: a column less", spoilt[:-1], "columns")
    yield row_as("line: a column more", [*spoilt, "more"], "columns")
    yield row_as("line: one column", ["only this"], "columns")
    yield row_as("line: a million columns", ["x"] * 10**6, "columns")
    if sound.dialect is not Dialect.focus_1_2:  # unless it is a line of another provider
        yield row_as("line: the header again", sound.header, "number", "moment", "currency")
    lines = sound.text().split("\n")
    cut = "\n".join([*lines[: LINES - 5], lines[LINES - 5][: len(lines[LINES - 5]) // 2]])
    yield _file("line: the last one cut", cut.encode(), "columns", "unreadable", line=LINES - 4)
    open_quote = [*lines[: AT - 1], '"' + lines[AT - 1], *lines[AT:]]
    faults = ("unreadable", "columns", "line_too_long")
    yield _file("line: a quote that stays open", "\n".join(open_quote).encode(), *faults)
    long = sound.with_rows([*sound.rows[:AT], ["y" * (5 * 2**20), *sound.rows[AT][1:]]])
    yield _file("line: five MiB", long.bytes(), "line_too_long", line=AT + 1)
    returns = sound.text(ends="\r").encode()
    yield _file("line: carriage returns alone", returns, "unreadable", "unknown_format", line=1)


def _characters(sound: CostSheet) -> Iterator[BadFile]:
    text, whole = sound.text(), sound.bytes()
    lines = whole.split(b"\n")

    def at_line(inserted: bytes) -> bytes:
        return b"\n".join([*lines[: AT - 1], inserted + lines[AT - 1], *lines[AT:]])

    yield _file("characters: NUL in a line", at_line(b"\0"), "nul", line=AT)
    yield _file("characters: NUL in the header", b"\0" + whole, "nul", line=1)
    yield _file("characters: NULs behind the end", whole + bytes(4096), "nul", line=LINES + 2)
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


def _wholes(sound: CostSheet) -> Iterator[BadFile]:
    other = "azure" if sound.vendor == "aws" else "aws"
    strange = ("unknown_format",)
    yield _file("whole: nothing", b"", *strange, line=1)
    yield _file("whole: one line feed", b"\n", *strange, line=1)
    yield _file("whole: semicolons", sound.text(sep=";").encode(), *strange, line=1)
    yield _file("whole: tabs", sound.text(sep="\t").encode(), *strange, line=1)
    page = f"<html><body><pre>{html.escape(sound.text())}</pre></body></html>"
    yield _file("whole: a web page", page.encode(), *strange, "columns")
    objects = [dict(zip(sound.header, row, strict=True)) for row in sound.rows[1:]]
    yield _file("whole: JSON", json.dumps(objects).encode(), *strange, line=1)
    yield _file("whole: random bytes", bytes(range(256)) * 40, *strange, "encoding", "nul", line=1)
    yield replace(
        _file("whole: of another vendor", sound.bytes(), "vendor", "vendor_absent"), vendor=other
    )
    yield replace(_file("whole: of another month", sound.bytes(), "month", line=2), month="2026-08")
    july = "07/01/2026" if sound.vendor == "azure" else "2026-07-01T00:00:00Z"
    two = sound.with_cell(AT, "period", july).bytes()
    yield _file("whole: two months in one file", two, "several_months", "month")
    of_month = replace(
        _file("whole: a line of another month", two, "month"),
        line=AT,
        column=sound.column("period"),
    )
    yield replace(of_month, month="2026-09")
    august = sound.with_rows(
        [
            sound.header,
            *sound.with_cell(2, "period", july).rows[1:2],
        ]
    )
    yield BadFile(
        "whole: two parts of two months",
        {"report-1.csv": sound.bytes(), "report-2.csv": august.bytes()},
        ("several_months", "month"),
        vendor="",
    )
