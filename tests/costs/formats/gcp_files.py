"""Writes lines of a GCP reseller export as CSV, JSON Lines and Parquet files.

The amounts are texts, so that each file has exactly the digits that a test expects.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PAYER = "AAAAAA-BBBBBB-CCCCCC"
CUSTOMER = "011111-222222-333333"
OTHER_CUSTOMER = "044444-555555-666666"

Line = dict[str, Any]

DESCRIBED = pa.struct([("id", pa.string()), ("description", pa.string())])
PAIRS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


def build_line(**changes: Any) -> Line:
    return {
        "billing_account_id": CUSTOMER,
        "payer_billing_account_id": PAYER,
        "month": "202609",
        "cost_type": "regular",
        "service": "Compute Engine",
        "sku": "N1 core",
        "start": "2026-09-03 10:00:00 UTC",
        "end": "2026-09-03 11:00:00 UTC",
        "project": "shop-1",
        "labels": {"team": "blue"},
        "cost": "1.0",
        "credits": [],
        "currency": "USD",
        "seller": None,
        "adjustment": None,
        **changes,
    }


def to_object(line: Line) -> dict[str, Any]:
    """The line as an object; amounts stay texts."""
    return {
        "billing_account_id": line["billing_account_id"],
        "payer_billing_account_id": line["payer_billing_account_id"],
        "invoice": {"month": line["month"]},
        "cost_type": line["cost_type"],
        "service": {"id": "6F81-5844-456A", "description": line["service"]},
        "sku": {"id": "1-2", "description": line["sku"]},
        "usage_start_time": line["start"],
        "usage_end_time": line["end"],
        "project": None if line["project"] is None else {"id": line["project"]},
        "labels": [{"key": key, "value": value} for key, value in line["labels"].items()],
        "location": {"region": "europe-west6", "zone": None},
        "cost": line["cost"],
        "credits": [{"name": "Discount", "amount": amount} for amount in line["credits"]],
        "currency": line["currency"],
        "seller_name": line["seller"],
        "adjustment_info": {"description": line["adjustment"]},
        "export_time": "2026-10-02 00:00:00 UTC",
    }


def write_json(lines: Sequence[Line]) -> bytes:
    """Write amounts as numbers with exactly their digits."""
    rows = []
    for line in lines:
        text = json.dumps(to_object(line), ensure_ascii=False)
        for amount in (line["cost"], *line["credits"]):
            for name in ("cost", "amount"):
                text = text.replace(f'"{name}": "{amount}"', f'"{name}": {amount}')
        rows.append(text + "\n")
    return "".join(rows).encode()


def write_csv(lines: Sequence[Line]) -> bytes:
    """Nested columns have dotted names; lists are JSON."""
    text = io.StringIO()
    rows = [_flatten(to_object(line)) for line in lines]
    writer = csv.DictWriter(text, list(rows[0]), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _flatten(line: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in line.items():
        if isinstance(value, dict):
            row |= {f"{name}.{inner}": text for inner, text in value.items()}
        elif name == "project":
            row["project.id"] = None
        else:
            row[name] = json.dumps(value) if isinstance(value, list) else value
    return row


def write_parquet(lines: Sequence[Line], path: Path, amount: pa.DataType) -> Path:
    """Write structs and lists; amounts have the given type."""

    def convert(text: str) -> Any:
        return float(text) if pa.types.is_floating(amount) else Decimal(text)

    rows = []
    for line in lines:
        row = to_object(line)
        row["cost"] = convert(row["cost"])
        for credit in row["credits"]:
            credit["amount"] = convert(credit["amount"])
        rows.append(row)
    text = pa.string()
    schema = pa.schema(
        [
            ("billing_account_id", text),
            ("payer_billing_account_id", text),
            ("invoice", pa.struct([("month", text)])),
            ("cost_type", text),
            ("service", DESCRIBED),
            ("sku", DESCRIBED),
            ("usage_start_time", text),
            ("usage_end_time", text),
            ("project", pa.struct([("id", text)])),
            ("labels", PAIRS),
            ("location", pa.struct([("region", text), ("zone", text)])),
            ("cost", amount),
            ("credits", pa.list_(pa.struct([("name", text), ("amount", amount)]))),
            ("currency", text),
            ("seller_name", text),
            ("adjustment_info", pa.struct([("description", text)])),
        ]
    )
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path


def write_file(lines: Sequence[Line], folder: Path, form: str) -> Path:
    """Write the lines in a form such as `jsonl.gz`, `csv` or `parquet`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"export.{form}"
    if form.startswith("parquet"):
        amount = pa.decimal128(38, 9) if form == "parquet.decimal" else pa.float64()
        return write_parquet(lines, folder / "export.parquet", amount)
    content = write_csv(lines) if form.startswith("csv") else write_json(lines)
    if form.endswith(".gz"):
        content = gzip.compress(content)
    if form.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(path.name.removesuffix(".zip"), content)
        return path
    path.write_bytes(content)
    return path
