"""Encodes CSV for spreadsheets in Japan: UTF-8 with BOM, CRLF, formulas escaped."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from nimbill.foundation.basis import chosen

basis = chosen("csv-files")

Cell = str | Decimal | int | None

BOM = "\ufeff"
# Spreadsheets evaluate a text that starts with one of these characters as a formula; in Japan also
# with their full-width forms. Texts that look escaped are escaped again, so that removing one quote
# always restores the stored text.
_FORMULA_START = re.compile("'*[=+\\-@\t\r\n\0＝＋－＠]")
ESCAPE_PREFIX = "'"


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
        return ESCAPE_PREFIX + cell if _FORMULA_START.match(cell) else cell
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)
