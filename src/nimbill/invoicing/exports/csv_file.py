"""Encodes CSV for spreadsheets in Japan: UTF-8 with BOM, CRLF, formulas escaped."""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

from nimbill.foundation.spreadsheet_text import escape_formula

# See docs/choices.md, csv-files.

Cell = str | Decimal | int | None

BOM = "\ufeff"


def encode_csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Encode the whole file; numbers keep their digits and have no exponent."""
    output = io.StringIO(newline="")
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_format_cell(cell) for cell in row])
    return (BOM + output.getvalue()).encode("utf-8")


def _format_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return escape_formula(cell)
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)
