"""Sends invoices and requests about their payments."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from nimbill.foundation import clock, exact_json
from nimbill.receivables.payments import operations
from tests.customers.csv_requests import post_csv
from tests.invoicing.month_end import MONTH, MonthEnd

PRE_TAX = 173156
TOTAL = 190472  # with 10 % tax
INVOICE_NO = "202609-0001"
CSV_PATH = "/m/core/payments/csv"
HEADER = "invoice_no,amount,paid_on,note,again"


def path_of(group: str, rest: str = "/payments") -> str:
    return f"/invoices/{MONTH}/{group}/aws{rest}"


def send_invoice(month_end: MonthEnd, group: str) -> None:
    assert month_end.put(path_of(group, "/sent"), {"revision": 1}).status_code == 200


def create_sent_invoice(
    month_end: MonthEnd,
    name: str = "BG-1",
    account: str = "000000000001",
    amount: int = PRE_TAX,
    currency: str = "jpy",
    **fields: Any,
) -> str:
    """A sent invoice of one item, which needs no import: 190472 yen in total."""
    group = month_end.create_group(name, account, **fields)
    item = {"enabled": True, "label": "x", "unit_cost": amount, "quantity": 1, "total": amount}
    path = f"/billinggroup/{group}/freeformat/{month_end.vendor}"
    assert month_end.post(path, {"additional_items": [item]}).status_code == 200
    month_end.prepare_groups(group, currency=currency)
    assert month_end.create_invoices(group).status_code == 200
    send_invoice(month_end, group)
    return group


def create_empty_invoice(month_end: MonthEnd, name: str = "BG-2") -> str:
    """An invoice of another group, which is not sent."""
    group = month_end.create_group(name, f"0000000000{name[-1]:0>2}")
    month_end.prepare_groups(group)
    assert month_end.create_invoices(group).status_code == 200
    return group


def request_payment(
    month_end: MonthEnd,
    group: str,
    amount: object,
    paid_on: str = "2026-10-05",
    headers: Any = None,
    **more: Any,
) -> Any:
    body = {"amount": amount, "paid_on": paid_on, **more}
    return month_end.post(path_of(group), body, headers)


def pay(month_end: MonthEnd, group: str, amount: object, **more: Any) -> Any:
    response = request_payment(month_end, group, amount, **more)
    assert response.status_code == 201, response.text
    return exact_json.decode_stored(response.text)


def reverse(
    month_end: MonthEnd, group: str, payment: Any, reason: str = "bounced", headers: Any = None
) -> Any:
    path = path_of(group, f"/payments/{payment['payment_id']}/reversed")
    return month_end.put(path, {"reason": reason}, headers)


def credit(month_end: MonthEnd, group: str, amount: int) -> Any:
    """A credit note by hand, to which 10 % tax is added."""
    amounts = [{"description": "Discount", "amount": amount, "tax_free": False}]
    body = {"kind": "manual", "reason": "late", "amounts": amounts}
    return month_end.post(path_of(group, "/credit-notes"), body)


def read_payments(month_end: MonthEnd, group: str) -> Any:
    response = month_end.get(path_of(group))
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def read_amounts(month_end: MonthEnd, group: str) -> tuple[Any, ...]:
    """Credited, paid, open balance and state."""
    found = read_payments(month_end, group)
    return found["credited"], found["paid"], found["open_balance"], found["state"]


def import_file(month_end: MonthEnd, *lines: str, header: str = HEADER, **options: Any) -> Any:
    return post_csv(month_end.service, CSV_PATH, header, *lines, **options)


def set_clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    """Set the time that payments are compared with."""
    fixed = SimpleNamespace(
        now=lambda: at, local_date=clock.local_date, format_timestamp=clock.format_timestamp
    )
    monkeypatch.setattr(operations, "clock", fixed)
