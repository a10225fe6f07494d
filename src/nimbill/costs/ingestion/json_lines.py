"""Reads JSON Lines of a GCP export: one object per line, numbers exactly as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.formats.detection import FileLayout, detect_layout
from nimbill.costs.formats.gcp import COLUMNS, GCP_EXPORT
from nimbill.costs.formats.line_rules import RuleViolation, line_error
from nimbill.costs.ingestion.gcp_credits import sum_credits
from nimbill.costs.ingestion.parts import Part
from nimbill.costs.ingestion.tags import TAGS

# See docs/choices.md, gcp-export.

BLOCK_BYTES = 8 * 2**20
BOM = b"\xef\xbb\xbf"
IDENTIFYING_NAMES = ("payer_billing_account_id", "invoice", "cost_type")
HEADER = tuple(dict.fromkeys(column.names[0] for column in COLUMNS.values()))


class _Optional(msgspec.Struct, frozen=True):
    """Fields that may be absent or null."""


class _Described(_Optional, frozen=True):
    id: str | None = None
    description: str | None = None


class _Invoice(_Optional, frozen=True):
    month: str | int | None = None


class _Location(_Optional, frozen=True):
    region: str | None = None
    location: str | None = None
    zone: str | None = None


class _Credit(_Optional, frozen=True):
    amount: msgspec.Raw = msgspec.Raw(b"null")


class _Label(_Optional, frozen=True):
    key: str | None = None
    value: str | None = None


class _Line(_Optional, frozen=True):
    payer_billing_account_id: str | None = None
    billing_account_id: str | None = None
    seller_name: str | None = None
    invoice: _Invoice | None = None
    cost_type: str | None = None
    service: _Described | None = None
    sku: _Described | None = None
    project: _Described | None = None
    adjustment_info: _Described | None = None
    location: _Location | None = None
    # as text: a float would lose digits
    cost: msgspec.Raw = msgspec.Raw(b"null")
    credits: list[_Credit] | None = None
    currency: str | None = None
    usage_start_time: str | None = None
    usage_end_time: str | None = None
    labels: list[_Label] | None = None


_decoder = msgspec.json.Decoder(_Line)
_NOT_BLANK = re.compile(rb"[^\s][^\r\n]*")


def is_json(block: bytes) -> bool:
    """The header of a CSV file does not begin with a brace."""
    return block.removeprefix(BOM).lstrip()[:1] == b"{"


def detect_json_layout(part: Part, block: bytes) -> FileLayout:
    """Refuse objects that are not lines of the export, judging by the first one."""
    first = block.removeprefix(BOM).lstrip().partition(b"\n")[0]
    try:
        names = msgspec.json.decode(first, type=dict[str, msgspec.Raw]).keys()
    except msgspec.MsgspecError:
        raise line_error(part.name, "json", line=1) from None
    missing = [name for name in IDENTIFYING_NAMES if name not in names]
    if missing:
        lacks = (
            f"The nearest is the {GCP_EXPORT.title}; the first object lacks {', '.join(missing)}"
        )
        raise line_error(part.name, "unknown_format", lacks, line=1)
    return detect_layout(part.name, HEADER)


def cut_json_blocks(part: Part, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Cut the text at line ends; JSON has no line end inside a value."""
    pending: list[bytes] = []
    size = 0
    for chunk in chunks:
        pending.append(chunk)
        size += len(chunk)
        if size < BLOCK_BYTES:
            continue
        block = b"".join(pending)
        cut = block.rfind(b"\n") + 1
        if not cut:
            raise line_error(part.name, "line_too_long")
        yield block[:cut]
        pending, size = [block[cut:]], len(block) - cut
    if size:
        yield b"".join(pending)


def parse_json_block(part: Part, block: bytes, first_line: int) -> pa.RecordBatch:
    """Return the columns of HEADER; labels are maps, all others texts."""
    values: dict[str, list[Any]] = {name: [] for name in HEADER}
    for number, text in _find_lines(block.removeprefix(BOM), first_line):
        try:
            columns = _read_line(text)
        except RuleViolation as violation:
            raise line_error(part.name, str(violation), line=number, column="credits") from None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _locate_error(part, number, error) from None
        for name in HEADER:
            values[name].append(columns[name])
    arrays = [pa.array(values[name], TAGS if name == "labels" else pa.string()) for name in HEADER]
    return pa.RecordBatch.from_arrays(arrays, names=list(HEADER))


def _find_lines(block: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    """Return the lines that are not blank with their numbers; a bomb may have millions that are."""
    if block.isspace():
        return
    number, position = first_line, 0
    for found in _NOT_BLANK.finditer(block):
        start = found.start()
        number += sum(
            sign * block.count(end, position, start)
            for end, sign in ((b"\n", 1), (b"\r", 1), (b"\r\n", -1))
        )
        position = start
        yield number, found[0]


def _locate_error(part: Part, line: int, error: Exception) -> CostFileError:
    """The message of a wrong type ends with the path of the field."""
    path = str(error).rpartition(" - at `$.")[2] if "`$." in str(error) else ""
    return line_error(part.name, "json", line=line, column=path.rstrip("`") or None)


def _read_line(text: bytes) -> dict[str, Any]:
    line = _decoder.decode(text)
    service, sku = line.service or _Described(), line.sku or _Described()
    location = line.location or _Location()
    month = (line.invoice or _Invoice()).month
    columns: dict[str, Any] = {
        "payer_billing_account_id": line.payer_billing_account_id,
        "billing_account_id": line.billing_account_id,
        "seller_name": line.seller_name,
        "invoice.month": None if month is None else str(month),
        "cost_type": line.cost_type,
        "service.description": service.description,
        "service.id": service.id,
        "sku.description": sku.description,
        "adjustment_info.description": (line.adjustment_info or _Described()).description,
        "cost": _read_number(line.cost),
        "currency": line.currency,
        "usage_start_time": line.usage_start_time,
        "usage_end_time": line.usage_end_time,
        "location.region": location.region or location.location,
        "location.zone": location.zone,
        "project.id": (line.project or _Described()).id,
    }
    columns["credits"] = _sum_credits(line.credits or ())
    columns["labels"] = [(label.key, label.value) for label in line.labels or () if label.key]
    return columns


def _sum_credits(credits_: Sequence[_Credit]) -> str | None:
    return sum_credits(_read_number(credit.amount) for credit in credits_) if credits_ else None


def _read_number(raw: msgspec.Raw) -> str | None:
    """BigQuery writes FLOAT as a number and NUMERIC as a text."""
    text = bytes(raw).decode().strip()
    return None if text in ("null", '""') else text.removeprefix('"').removesuffix('"')
