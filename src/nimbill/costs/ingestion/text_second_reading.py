"""Reads the text files of a GCP export a second time, with the parsers of the standard library.

DuckDB reads numbers in JSON as floats, so that it could not verify the last digits of credits.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any, NamedTuple, TextIO

from nimbill.costs.formats.detection import FileLayout
from nimbill.costs.formats.format import NULLS
from nimbill.costs.formats.line_rules import SCALE
from nimbill.costs.ingestion.parts import Part
from nimbill.foundation.money import sum_decimals

# See docs/choices.md, second-reading.

UNIT = Decimal(1).scaleb(-SCALE)
PRECISE = Context(prec=2_000)
HEAD_CHARACTERS = 64
READ_ERRORS = (
    csv.Error,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    InvalidOperation,
    EOFError,
    gzip.BadGzipFile,
    zlib.error,
)


class TextLine(NamedTuple):
    payer_id: str
    customer_id: str
    currency: str
    line_type: str
    charge: Decimal


class SecondReadingStopped(Exception):
    """The first reading has failed, so that nobody needs the sums."""


def iterate_text_lines(
    part: Part, layout: FileLayout, stopped: threading.Event
) -> Iterator[TextLine]:
    """Raise one of READ_ERRORS if a line cannot be read."""
    with _open_text(part) as text:
        first = text.read(HEAD_CHARACTERS).lstrip()[:1]
        text.seek(0)
        values = _iterate_json(text) if first == "{" else _iterate_csv(text, layout)
        for line in values:
            if stopped.is_set():
                raise SecondReadingStopped
            yield line


@contextmanager
def _open_text(part: Part) -> Iterator[TextIO]:
    open_ = gzip.open if part.file_type == "csv.gz" else open
    with open_(part.path, "rt", encoding="utf-8-sig", newline="") as text:
        yield text


def _iterate_json(text: TextIO) -> Iterator[TextLine]:
    for row in text:
        if not row.strip():
            continue
        line: dict[str, Any] = json.loads(row, parse_float=Decimal, parse_int=Decimal)
        credits_ = [credit.get("amount") or 0 for credit in line.get("credits") or ()]
        yield TextLine(
            payer_id=line["payer_billing_account_id"],
            customer_id=line.get("billing_account_id") or "",
            currency=line["currency"].upper(),
            line_type=line["cost_type"],
            charge=_add_up([line["cost"], *credits_]),
        )


def _iterate_csv(text: TextIO, layout: FileLayout) -> Iterator[TextLine]:
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(text)
    next(rows, None)
    for row in rows:
        if not row:
            continue
        line = {
            field: "" if row[position] in NULLS else row[position]
            for field, position in layout.positions.items()
        }
        yield TextLine(
            payer_id=line["payer_id"],
            customer_id=line["customer_id"],
            currency=line["currency"].upper(),
            line_type=line["line_type"],
            charge=_add_up([line["cost"], *_list_amounts(line)]),
        )


def _list_amounts(line: Mapping[str, str]) -> list[Any]:
    text = line.get("credits", "").strip()
    if not text.startswith("["):
        return [text or 0]
    items = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    return [item.get("amount") or 0 if isinstance(item, dict) else item or 0 for item in items]


def _add_up(amounts: list[Any]) -> Decimal:
    """The cost and each credit are stored with 22 decimals."""
    return sum_decimals(
        Decimal(amount).quantize(UNIT, ROUND_HALF_UP, context=PRECISE) for amount in amounts
    )
