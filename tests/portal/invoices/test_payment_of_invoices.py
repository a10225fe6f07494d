"""What a customer sees of the payments of its invoices."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nimbill.foundation import clock
from nimbill.portal.invoices import customer_payments
from tests.customers.invoice_templates.templates import create_template
from tests.customers.resellers.reseller_accounts import create_reseller
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.portal.portal_customer import ALL_FLAGS, PortalCustomer
from tests.receivables.payments.paid_invoices import (
    TOTAL,
    create_empty_invoice,
    create_sent_invoice,
    path_of,
    pay,
)
from tests.running_service import Service


@pytest.fixture
def payer(service: Service, tmp_path: Path) -> PortalCustomer:
    """A customer with a sent invoice that is due after ten days."""
    month_end = MonthEnd(service, tmp_path)
    template = create_template(service, due_rule="days", due_days=10)
    company = create_sent_invoice(month_end, invoice_template_id=template)
    return log_in(month_end, company)


def log_in(month_end: MonthEnd, company: str) -> PortalCustomer:
    reseller = create_reseller(month_end.service, company, meta=ALL_FLAGS)
    return PortalCustomer(month_end, company, reseller)


def show_payments(month_end: MonthEnd) -> None:
    assert month_end.put("/settings", {"portal_shows_payments": True}).status_code == 200


def read_payment(customer: PortalCustomer) -> Any:
    """The payment of the only invoice, which is the same in the list and alone."""
    (head,) = customer.get("/invoices")
    assert customer.get(f"/invoices/{MONTH}/aws")["payment"] == head["payment"]
    return head["payment"]


def test_payments_are_shown_once_the_organisation_decides_so(payer: PortalCustomer) -> None:
    pay(payer.month_end, payer.company_id, 1)
    assert read_payment(payer) is None

    show_payments(payer.month_end)

    assert read_payment(payer) == {
        "state": "partly_paid",
        "open_balance": TOTAL - 1,
        "overdue": False,
    }
    pay(payer.month_end, payer.company_id, TOTAL - 1)
    assert read_payment(payer) == {"state": "paid", "open_balance": 0, "overdue": False}


def test_an_invoice_is_overdue_after_its_due_date(
    payer: PortalCustomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_payments(payer.month_end)
    (head,) = payer.get("/invoices")
    noon = datetime.fromisoformat(f"{head['due_date']}T03:00:00").replace(tzinfo=UTC)  # in Tokyo

    for days, overdue in ((0, False), (1, True)):
        now = noon + timedelta(days=days)
        fixed = SimpleNamespace(now=lambda now=now: now, local_date=clock.local_date)
        monkeypatch.setattr(customer_payments, "clock", fixed)
        found = read_payment(payer)
        assert found == {"state": "open", "open_balance": TOTAL, "overdue": overdue}


def test_nothing_is_owed_of_an_invoice_that_was_not_sent_or_is_cancelled(
    service: Service, tmp_path: Path
) -> None:
    month_end = MonthEnd(service, tmp_path)
    show_payments(month_end)
    customer = log_in(month_end, create_empty_invoice(month_end))

    assert read_payment(customer) is None
    assert month_end.put(path_of(customer.company_id, "/sent"), {"revision": 1}).status_code == 200
    assert read_payment(customer)["state"] == "paid"  # nothing is charged
    cancelled = month_end.put(path_of(customer.company_id, "/cancelled"), {"reason": "x"})
    assert cancelled.status_code == 200
    assert read_payment(customer) is None
