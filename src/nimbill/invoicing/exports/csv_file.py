"""Writing CSV as spreadsheets in Japan read it: UTF-8 with BOM, CRLF, formulas defused."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from nimbill.foundation.basis import chosen

basis = chosen("csv-files")

Cell = str | Decimal | int | None

BOM = "\ufeff"
# A spreadsheet runs a text that begins so, a Japanese one also where the sign has full width,
# unless something harmless stands before it. What looks defused already is defused once more, so
# that whoever takes one quote away gets back what was stored.
_FORMULA_START = re.compile("'*[=+\\-@\t\r\n\0＝＋－＠]")
ESCAPE_PREFIX = "'"


def encode_csv(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """The whole file; numbers are written as they are, without exponents."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([_format_cell(cell) for cell in row])
    return (BOM + out.getvalue()).encode("utf-8")


def _format_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return ESCAPE_PREFIX + cell if _FORMULA_START.match(cell) else cell
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)
