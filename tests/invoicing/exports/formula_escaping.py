"""Checks of CSV escaping: texts are restorable and never formulas, numbers stay unchanged."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from decimal import Decimal

from nimbill.invoicing.exports.csv_file import encode_csv
from tests.invoicing.exports import rfc4180
from tests.invoicing.exports.export_requests import BOM

Cell = str | Decimal | int | None

# signs by which a spreadsheet takes a text for a formula; a Japanese one the wide ones too
FORMULA_CHARACTERS = ("=", "+", "-", "@", "\t", "\r", "\0", "\n", "＝", "＋", "－", "＠")

# texts that have run in spreadsheets, or nearly
FORMULAS = (
    "=1+1",
    '=HYPERLINK("http://127.0.0.1/?x="&A1,"click")',
    "=cmd|' /C calc'!A0",
    "+1+1",
    "+81-3-1234-5678",
    "-1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\r\n=1+1",
    "\0=1+1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(1)",
    "=",
    "+",
    "-",
    "@",
    "--",
    '="1"',
    "=1\r\n=2",
    "'=1+1",
    "''=1+1",
    "'",
    "''",
    "'abc",
    "'\t",
    '"=1+1"',
    '";=1+1',
    ",=1+1",
    " =1+1",
    "\ufeff=1+1",
    "1,234",
    "007",
    "1e5",
    "",
    "a\0b",
    "\u2028=1",
    "％",
    "株式会社さくら商事",
)


def unescape_cell(cell: str) -> str:
    """What was stored, by the rule the page of choices gives: one quote before a formula goes."""
    behind = cell.lstrip("'")
    return cell[1:] if cell.startswith("'") and behind.startswith(FORMULA_CHARACTERS) else cell


def format_number(cell: Cell) -> str:
    return "" if cell is None else f"{Decimal(cell):f}"


def parse_with_both_readers(file: bytes) -> list[list[str]]:
    """The rows, which a reader of the standard library and our own must find alike."""
    assert file.startswith(BOM)
    text = file.removeprefix(BOM).decode()
    ours = rfc4180.parse(text)
    theirs = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert ours == theirs
    return ours


def find_faults(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """List everything that is wrong with the file made of these rows."""
    header = [f"h{index}" for index in range(len(rows[0]))] if rows else ["h"]
    first, *found = parse_with_both_readers(encode_csv(header, rows))
    if first != header or [len(row) for row in found] != [len(row) for row in rows]:
        return ["the shape of the file is another"]
    faults = []
    for row, read in zip(rows, found, strict=True):
        for cell, text in zip(row, read, strict=True):
            if isinstance(cell, str):
                if text.startswith(FORMULA_CHARACTERS):
                    faults.append(f"a text cell begins like a formula: {text[:40]!r}")
                if unescape_cell(text) != cell:
                    faults.append(f"{cell[:40]!r} came back as {unescape_cell(text)[:40]!r}")
            elif text != format_number(cell):
                faults.append(f"the number {cell} was written {text[:40]!r}")
    return faults
