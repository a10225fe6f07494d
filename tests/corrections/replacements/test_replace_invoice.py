"""POST /m/core/invoices/{month}/{company_id}/{vendor}/replacement"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.costs.months.records import park_month
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.billing_period import BillingPeriod
from tests.costs.months.month_requests import close_month, run_in_transaction
from tests.credit_notes.corrected_invoices.late_deliveries import (
    REASON,
    import_late,
    issue,
    late_lines,
    path_of,
    prepare_sent_invoice,
    preview,
    read,
    send_invoice,
)
from tests.invoicing.invoice_runs import prepare_example_a, query_rows
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.invoicing.pdf.pdf_text import extract_text, remove_whitespace
from tests.problem_responses import read_problem, read_violations
from tests.temporary_database import execute_sql

HIGHER = "1100.1234567890"


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    return prepare_sent_invoice(month_end, closed=False)


def request(month_end: MonthEnd, group: str, headers: Any = None, reason: str = REASON) -> Any:
    return month_end.post(path_of(group, "/replacement"), {"reason": reason}, headers)


def replace(month_end: MonthEnd, group: str) -> Any:
    return read(request(month_end, group), 201)


def decide(month_end: MonthEnd, import_id: str, group: str, decision: str) -> Any:
    path = f"/costs/imports/{import_id}/drift/{group}"
    return read(month_end.post(path, {"decision": decision, "reason": REASON}), 201)


def test_the_new_invoice_has_the_current_terms_and_a_number_of_its_own(
    month_end: MonthEnd, group: str
) -> None:
    month_end.prepare_groups(group, discount_rate=Decimal("0.10"))

    state = replace(month_end, group)

    assert (state["invoice_no"], state["state"], state["revision"]) == ("202609-0002", "created", 2)
    assert state["replaces"] == "202609-0001"
    invoice = month_end.get_invoice(group)
    assert (invoice["invoice_no"], invoice["replaces"]) == ("202609-0002", "202609-0001")
    assert invoice["sheet"]["total"] == 180448


def test_the_replaced_invoice_keeps_its_number_and_its_documents(
    month_end: MonthEnd, group: str
) -> None:
    pdf = month_end.get(path_of(group, "/revisions/1/pdf")).content

    replace(month_end, group)

    (replaced,) = read(month_end.get(path_of(group, "/state")))["replaced"]
    assert (replaced["invoice_no"], replaced["state"]) == ("202609-0001", "replaced")
    assert (replaced["replacement_no"], replaced["revision"]) == ("202609-0002", 1)
    assert (replaced["replaced_by"], replaced["reason"]) == ("root", REASON)
    old = read(month_end.get(path_of(group, "/revisions/1")))
    assert (old["invoice_no"], old["sheet"]["total"]) == ("202609-0001", 190472)
    assert month_end.get(path_of(group, "/revisions/1/pdf")).content == pdf
    found = read(month_end.get("/search?q=202609-0001"))
    assert [each["invoice_no"] for each in found["invoices"]] == ["202609-0001"]


def test_the_printed_replacement_names_the_replaced_invoice(
    month_end: MonthEnd, group: str
) -> None:
    replace(month_end, group)

    text = remove_whitespace(extract_text(month_end.get(path_of(group, "/pdf")).content))

    assert "差替元請求書番号202609-0001" in text
    assert "202609-0002" in text


def test_a_replacement_is_created_again_until_it_is_sent(month_end: MonthEnd, group: str) -> None:
    replace(month_end, group)

    assert month_end.create_invoices(group).status_code == 200

    invoice = month_end.get_invoice(group)
    assert (invoice["invoice_no"], invoice["revision"]) == ("202609-0002", 3)
    assert invoice["replaces"] == "202609-0001"
    send_invoice(month_end, group, revision=3)
    second = replace(month_end, group)
    assert (second["invoice_no"], second["replaces"]) == ("202609-0003", "202609-0002")
    assert [each["invoice_no"] for each in second["replaced"]] == ["202609-0002", "202609-0001"]


def test_an_older_run_keeps_the_number_that_it_gave(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    headers = [month_end.service.root() | {"Idempotency-Key": f"run-{n}"} for n in range(3)]
    for revision, key in enumerate(headers):
        created = month_end.create_invoices(group, headers=key)
        assert created.status_code == 200, created.text
        send_invoice(month_end, group, revision=revision * 2 + 1)
        replace(month_end, group)
    # the responses are built again, as after a crash before they were stored
    query_rows(month_end, "DELETE FROM idempotency_keys RETURNING 1")

    responses = [read(month_end.create_invoices(group, headers=key)) for key in headers]

    numbers = [[each["invoice_no"] for each in response["created"]] for response in responses]
    assert numbers == [["202609-0001"], ["202609-0002"], ["202609-0003"]]
    assert month_end.get_invoice(group)["invoice_no"] == "202609-0004"


def test_the_month_counts_the_replacement_alone(month_end: MonthEnd, group: str) -> None:
    month_end.prepare_groups(group, discount_rate=Decimal("0.10"))
    replace(month_end, group)

    summary = read(month_end.get(f"/invoices/{MONTH}/summary?vendor=aws"))
    tie_out = read(month_end.get(f"/invoices/tie-out/{MONTH}?vendor=aws"))

    assert [total["total"] for total in summary["totals"]] == [180448]
    assert tie_out["state"] == "ties"


def test_late_costs_of_a_closed_month_are_in_the_replacement(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    import_id = import_late(month_end, *late_lines(HIGHER))

    decision = decide(month_end, import_id, group, "replacement")

    assert (decision["replacement_no"], decision["pre_tax"]) == ("202609-0002", 189328 - 173156)
    invoice = month_end.get_invoice(group)
    assert (invoice["sheet"]["total"], invoice["exchange_rate"]) == (208261, Decimal("150.25"))
    assert invoice["stock"] == [{"currency": "USD", "amount": Decimal("1170.706456789")}]
    (replaced,) = read(month_end.get(path_of(group, "/state")))["replaced"]
    assert replaced["import_id"] == import_id
    tie_out = read(month_end.get(f"/invoices/tie-out/{MONTH}?vendor=aws"))
    assert tie_out["state"] == "ties"
    assert [each["amount"] for each in tie_out["late_costs"]] == [100]


def test_a_replacement_is_compared_with_a_later_delivery(month_end: MonthEnd) -> None:
    group = prepare_sent_invoice(month_end)
    first = import_late(month_end, *late_lines(HIGHER))
    decide(month_end, first, group, "replacement")
    send_invoice(month_end, group, revision=2)
    second = import_late(month_end, *late_lines("950.1234567890"))

    found = preview(month_end, group, import_id=second)

    assert (found["invoice_no"], found["invoiced_total"]) == ("202609-0002", 208261)
    assert found["corrected_total"] == 181577
    decide(month_end, second, group, "credit_note")
    tie_out = read(month_end.get(f"/invoices/tie-out/{MONTH}?vendor=aws"))
    assert [each["amount"] for each in tie_out["late_costs"]] == [100, -150]


def test_what_cannot_be_replaced(month_end: MonthEnd) -> None:
    group = prepare_example_a(month_end)
    read_problem(request(month_end, group), 404)
    month_end.create_invoices(group)
    assert read_problem(request(month_end, group), 409)["code"] == "not_sent"
    send_invoice(month_end, group)
    assert close_month(month_end.service, MONTH).status_code == 200

    assert read_problem(request(month_end, group), 409)["code"] == "month_closed"
    issue(
        month_end, group, "manual", amounts=[{"description": "d", "amount": 1, "tax_free": False}]
    )
    assert read_problem(request(month_end, group), 409)["code"] == "has_credit_notes"
    assert month_end.get(path_of(group, "/state")).json()["invoice_no"] == "202609-0001"


def test_an_invoice_of_a_parked_month_is_not_replaced(month_end: MonthEnd, group: str) -> None:
    run_in_transaction(
        month_end.service,
        lambda db, scope: park_month(db, scope, BillingPeriod(MONTH, "aws"), "imp_x", "sums"),
    )

    assert read_problem(request(month_end, group), 409)["code"] == "month_parked"


def test_a_cancelled_invoice_is_not_replaced(month_end: MonthEnd, group: str) -> None:
    month_end.put(path_of(group, "/cancelled"), {"reason": REASON})

    assert read_problem(request(month_end, group), 409)["code"] == "invoice_cancelled"
    assert read_violations(request(month_end, group, reason=""))[0][0] == "reason"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE invoices SET number = 77, sent_time = NULL, sent_by = NULL",
        "UPDATE invoices SET sent_time = NULL, sent_by = NULL",
    ],
)
def test_a_sent_invoice_changes_only_with_a_recorded_replacement(
    month_end: MonthEnd, group: str, superuser: Address, change: str
) -> None:
    assert month_end.get_invoice(group)["invoice_no"] == "202609-0001"

    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, f"{change} WHERE sent_time IS NOT NULL")


@pytest.mark.parametrize(
    "change", ["UPDATE replaced_invoices SET reason = ''", "DELETE FROM replaced_invoices"]
)
def test_not_even_the_owner_changes_the_record(superuser: Address, change: str) -> None:
    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, change)
