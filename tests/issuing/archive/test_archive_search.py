"""Finding issued documents by date, amount and counterparty, in any combination."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.issuing.archive.issued_documents import IssuedDocuments, issue_documents
from tests.problem_responses import read_violations

INVOICE, OTHER = "202609-0001", "202609-0002"


@pytest.fixture
def documents(month_end: MonthEnd) -> IssuedDocuments:
    return issue_documents(month_end)


def search(month_end: MonthEnd, headers: Any = None, **filters: object) -> list[Any]:
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    response = month_end.get(f"/archive?{query}", headers)
    assert response.status_code == 200, response.text
    found: list[Any] = response.json()
    assert int(response.headers["X-Total-Count"]) >= len(found)
    return found


def numbers(found: list[Any]) -> set[str]:
    return {"note" if each["kind"] == "credit_note" else each["number"] for each in found}


def test_invoices_and_credit_notes_are_listed_with_what_they_show(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    found = search(month_end)

    by_number = {each["number"]: each for each in found}
    (note,) = (each for each in found if each["kind"] == "credit_note")
    assert len(found) == 3
    assert (note["total"], note["state"], note["month"]) == (110, "issued", MONTH)
    assert note["number"].startswith("CN")
    assert note["credit_note_id"] is not None
    assert by_number[INVOICE]["total"] == 190472
    assert (by_number[INVOICE]["revision"], by_number[INVOICE]["state"]) == (1, "sent")
    assert by_number[OTHER]["state"] == "created"
    assert by_number[OTHER]["counterparty"] == "みなと商事株式会社"
    assert {each["company_id"] for each in found} == {documents.credited, documents.other}


def test_date_amount_and_counterparty_are_combined(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    today = search(month_end)[0]["issue_date"]
    total = next(each["total"] for each in search(month_end) if each["number"] == OTHER)
    everything = {INVOICE, OTHER, "note"}

    assert numbers(search(month_end, date_from=today, date_to=today)) == everything
    assert search(month_end, date_from="9999-12-31") == []
    assert search(month_end, date_to="2000-01-01") == []
    assert numbers(search(month_end, amount_from=total, amount_to=total)) == {OTHER}
    assert numbers(search(month_end, amount_from=111)) == {INVOICE, OTHER}
    assert numbers(search(month_end, amount_to="110.00")) == {"note"}
    assert numbers(search(month_end, counterparty="みなと商事")) == {OTHER}
    assert numbers(search(month_end, counterparty=documents.credited)) == {INVOICE, "note"}
    assert search(month_end, counterparty="みなと", amount_to=110) == []
    assert numbers(search(month_end, date_from=today, amount_from=111, counterparty="みなと")) == {
        OTHER
    }
    assert numbers(search(month_end, document_kind="credit_note")) == {"note"}
    assert numbers(search(month_end, document_kind="invoice", currency="jpy")) == {INVOICE, OTHER}
    assert search(month_end, currency="usd") == []
    assert numbers(search(month_end, search="202609-0002")) == {OTHER}
    for state, expected in (("sent", INVOICE), ("created", OTHER), ("issued", "note")):
        assert numbers(search(month_end, state=state)) == {expected}
    assert search(month_end, state="cancelled") == []


def test_a_counterparty_is_found_by_its_former_and_its_present_name(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    body = {
        "billinggroup_id": "BG-2",
        "billinggroup_name": "Harbour",
        "company_name": "Harbour Ltd.",
    }
    changed = month_end.post(f"/billinggroup/{documents.other}", body)
    assert changed.status_code == 200, changed.text

    (former,) = search(month_end, counterparty="みなと商事")
    (present,) = search(month_end, counterparty="harbour")

    assert former == present
    assert former["counterparty"] == "みなと商事株式会社"


def test_pages_are_sorted(month_end: MonthEnd, documents: IssuedDocuments) -> None:
    by_total = [each["total"] for each in search(month_end, sort="-total")]

    assert by_total == sorted(by_total, reverse=True)
    assert [each["total"] for each in search(month_end, sort="total", limit=1)] == [110]
    assert [each["total"] for each in search(month_end, sort="total", limit=1, offset=1)] == [
        by_total[1]
    ]


def test_a_cancelled_invoice_is_found_as_such(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    path = f"/invoices/{MONTH}/{documents.other}/aws"
    assert month_end.put(f"{path}/sent", {"revision": 1}).status_code == 200
    assert month_end.put(f"{path}/cancelled", {"reason": "mistake"}).status_code == 200

    assert numbers(search(month_end, state="cancelled")) == {OTHER}


def test_an_invoice_that_was_returned_in_full_is_found_as_credited(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    """Its state is that of its own page and of the short list; a note of a part changes nothing."""
    path = f"/invoices/{MONTH}/{documents.credited}/aws"
    assert read_states(month_end, documents.credited) == ("sent", "sent")
    body = {"kind": "full", "reason": "wrong customer"}
    assert month_end.post(f"{path}/credit-notes", body).status_code == 201

    assert read_states(month_end, documents.credited) == ("credited", "credited")
    assert numbers(search(month_end, state="credited")) == {INVOICE}
    assert search(month_end, state="sent") == []


def read_states(month_end: MonthEnd, company_id: str) -> tuple[str, str]:
    own = month_end.get(f"/invoices/{MONTH}/{company_id}/aws/state").json()
    listed = month_end.get(f"/invoices/{MONTH}/summary?vendor=aws").json()
    (short,) = [row for row in listed["invoices"] if row["company_id"] == company_id]
    return own["state"], short["state"]


def test_a_replaced_invoice_is_found_under_its_number(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    path = f"/invoices/{MONTH}/{documents.other}/aws"
    assert month_end.put(f"{path}/sent", {"revision": 1}).status_code == 200
    response = month_end.post(f"{path}/replacement", {"reason": "wrong name"})
    assert response.status_code == 201, response.text

    (replaced,) = search(month_end, state="replaced")
    (replacement,) = search(month_end, state="created")

    assert (replaced["number"], replaced["revision"]) == (OTHER, 1)
    assert (replacement["number"], replacement["revision"]) == ("202609-0003", 2)
    assert replaced["total"] == replacement["total"]


def test_callers_find_documents_of_their_groups_only(
    month_end: MonthEnd, documents: IssuedDocuments
) -> None:
    headers = month_end.service.caller(RoleAction.ReadInvoice, billing_groups=[documents.other])

    assert numbers(search(month_end, headers)) == {OTHER}
    assert search(month_end, headers, counterparty=documents.credited) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("date_from=2026-02-30", "date_from"),
        ("date_to=yesterday", "date_to"),
        ("amount_from=1e9", "amount_from"),
        ("amount_to=NaN", "amount_to"),
        ("amount_from=%EF%BC%91", "amount_from"),
        ("date_from=2026-02-02&date_to=2026-02-01", "date_to"),
        ("amount_from=2&amount_to=1", "amount_to"),
        ("document_kind=receipt", "document_kind"),
        ("state=paid", "state"),
        ("currency=eur", "currency"),
        ("sort=number", "sort"),
    ],
)
def test_impossible_filters_are_refused(month_end: MonthEnd, query: str, field: str) -> None:
    response = month_end.get(f"/archive?{query}")

    assert field in dict(read_violations(response))
