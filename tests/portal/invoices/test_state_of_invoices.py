"""What a customer sees of invoices that are cancelled, credited or replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.customers.resellers.reseller_accounts import create_reseller
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.portal.portal_customer import ALL_FLAGS, PortalCustomer
from tests.receivables.payments.paid_invoices import create_sent_invoice, path_of
from tests.running_service import Service


@pytest.fixture
def customer(service: Service, tmp_path: Path) -> PortalCustomer:
    month_end = MonthEnd(service, tmp_path)
    company = create_sent_invoice(month_end)
    reseller = create_reseller(service, company, meta=ALL_FLAGS)
    return PortalCustomer(month_end, company, reseller)


def read_head(customer: PortalCustomer) -> Any:
    """The only invoice; state and replaced invoices are the same in the list and alone."""
    (head,) = customer.get("/invoices")
    shown = customer.get(f"/invoices/{MONTH}/aws")
    assert [shown[name] for name in ("state", "replaced")] == [head["state"], head["replaced"]]
    return head


def issue_credit_note(customer: PortalCustomer, body: dict[str, Any]) -> None:
    path = path_of(customer.company_id, "/credit-notes")
    response = customer.month_end.post(path, {"reason": "x", **body})
    assert response.status_code == 201, response.text


def test_an_invoice_is_credited_once_notes_returned_all_of_it(customer: PortalCustomer) -> None:
    assert read_head(customer)["state"] == "sent"

    part = {"description": "x", "amount": 100}
    issue_credit_note(customer, {"kind": "manual", "amounts": [part]})
    assert read_head(customer)["state"] == "sent"

    issue_credit_note(customer, {"kind": "full"})
    assert read_head(customer)["state"] == "credited"


def test_a_cancelled_invoice_says_so(customer: PortalCustomer) -> None:
    path = path_of(customer.company_id, "/cancelled")
    assert customer.month_end.put(path, {"reason": "x"}).status_code == 200

    head = read_head(customer)
    assert (head["state"], head["cancelled"]) == ("cancelled", True)


def test_an_invoice_names_those_that_it_replaces_without_the_reason(
    customer: PortalCustomer,
) -> None:
    month_end, company = customer.month_end, customer.company_id
    for revision in (2, 3):
        path = path_of(company, "/replacement")
        assert month_end.post(path, {"reason": "a secret"}).status_code == 201
        sent = month_end.put(path_of(company, "/sent"), {"revision": revision})
        assert sent.status_code == 200, sent.text

    head = read_head(customer)

    assert (head["invoice_no"], head["state"]) == ("202609-0003", "sent")
    replaced = [(each["invoice_no"], each["replacement_no"]) for each in head["replaced"]]
    assert replaced == [("202609-0002", "202609-0003"), ("202609-0001", "202609-0002")]
    assert {each["state"] for each in head["replaced"]} == {"replaced"}
    assert "a secret" not in str(head)


def test_replaced_invoices_of_other_customers_are_not_shown(customer: PortalCustomer) -> None:
    other = create_sent_invoice(customer.month_end, "BG-2", "000000000002")
    path = path_of(other, "/replacement")
    assert customer.month_end.post(path, {"reason": "x"}).status_code == 201

    assert read_head(customer)["replaced"] == []
