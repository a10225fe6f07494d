"""Small AWS reports; tests state only the values that matter to them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

PAYER = "111111111111"
CUSTOMER = "222222222222"
MONTH = "2026-09"

COLUMNS = {
    "bill/PayerAccountId": PAYER,
    "bill/InvoiceId": "INV-1",
    "bill/BillingEntity": "AWS",
    "bill/BillingPeriodStartDate": "2026-09-01T00:00:00Z",
    "lineItem/UsageAccountId": CUSTOMER,
    "lineItem/LineItemType": "Usage",
    "lineItem/UsageStartDate": "2026-09-05T10:00:00Z",
    "lineItem/UsageEndDate": "2026-09-05T11:00:00Z",
    "lineItem/ProductCode": "AmazonEC2",
    "lineItem/UsageType": "BoxUsage:m5.large",
    "lineItem/UnblendedCost": "1.25",
    "lineItem/CurrencyCode": "USD",
    "lineItem/LineItemDescription": "an hour of a machine",
    "product/ProductName": "Amazon Elastic Compute Cloud",
    "reservation/ReservationARN": "",
    "reservation/NumberOfReservations": "",
    "reservation/StartTime": "",
    "reservation/EndTime": "",
    "resourceTags/user:Team": "",
}


def build_report(lines: Sequence[Mapping[str, str]], columns: Mapping[str, str] = COLUMNS) -> bytes:
    """Lines contain only the values that differ from the defaults."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows([{**columns, **line} for line in lines])
    return text.getvalue().encode()


def report_line(cost: str, **values: str) -> dict[str, str]:
    """Keywords name columns by the last part of their names."""
    names = {name.rpartition("/")[2].rpartition(":")[2]: name for name in COLUMNS}
    return {"lineItem/UnblendedCost": cost} | {names[k]: value for k, value in values.items()}


def write_report(path: Path, lines: Sequence[dict[str, str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(build_report(lines))
    return path
