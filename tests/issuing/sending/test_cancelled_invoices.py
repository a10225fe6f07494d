"""Cancelling a sent invoice: it keeps its number and its documents."""

from __future__ import annotations

from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation import exact_json
from tests.invoicing.invoice_runs import list_missing_reasons, prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations
from tests.temporary_database import execute_sql

REASON = "The customer was invoiced by mistake."


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    company_id = prepare_example_a(month_end)
    month_end.create_invoices(company_id)
    return company_id


def path_of(group: str, rest: str = "") -> str:
    return f"/invoices/{MONTH}/{group}/aws{rest}"


def send(month_end: MonthEnd, group: str) -> None:
    assert month_end.put(path_of(group, "/sent"), {"revision": 1}).status_code == 200


def cancel(month_end: MonthEnd, group: str, reason: str = REASON, headers: Any = None) -> Any:
    return month_end.put(path_of(group, "/cancelled"), {"reason": reason}, headers)


def test_a_cancelled_invoice_keeps_its_number_and_its_documents(
    month_end: MonthEnd, group: str
) -> None:
    send(month_end, group)
    document = month_end.get(path_of(group)).content
    pdf = month_end.get(path_of(group, "/pdf")).content

    cancelled = cancel(month_end, group).json()

    assert (cancelled["invoice_no"], cancelled["state"]) == ("202609-0001", "cancelled")
    assert (cancelled["cancelled_by"], cancelled["cancel_reason"]) == ("root", REASON)
    assert cancelled["cancelled_time"].endswith("Z")
    assert cancelled["sent_by"] == "root"
    assert month_end.get(path_of(group, "/state")).json() == cancelled
    assert month_end.get(path_of(group)).content == document
    assert month_end.get(path_of(group, "/pdf")).content == pdf


def test_the_next_number_follows_the_cancelled_one(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(other)
    send(month_end, group)
    cancel(month_end, group)

    bulk = month_end.create_invoices().json()

    assert [invoice["invoice_no"] for invoice in bulk["created"]] == ["202609-0002"]
    assert bulk["skipped"] == [{"company_id": group, "reason": "already_sent"}]
    assert list_missing_reasons(month_end.create_invoices(group)) == {group: "already_sent"}


def test_only_a_sent_invoice_is_cancelled_and_only_once(month_end: MonthEnd, group: str) -> None:
    assert read_problem(cancel(month_end, group), 409)["code"] == "not_sent"

    send(month_end, group)
    first = cancel(month_end, group).json()

    assert read_problem(cancel(month_end, group, "again"), 409)["code"] == "invoice_cancelled"
    assert month_end.get(path_of(group, "/state")).json() == first
    sent_again = month_end.put(path_of(group, "/sent"), {"revision": 1})
    assert read_problem(sent_again, 409)["code"] == "invoice_cancelled"


def test_the_totals_of_the_month_do_not_contain_a_cancelled_invoice(
    month_end: MonthEnd, group: str
) -> None:
    def read_summary() -> Any:
        response = month_end.get(f"/invoices/{MONTH}/summary?vendor=aws")
        return exact_json.decode_stored(response.text)

    created = read_summary()
    send(month_end, group)
    sent = read_summary()
    cancel(month_end, group)
    cancelled = read_summary()

    assert [each["invoices"][0]["state"] for each in (created, sent, cancelled)] == [
        "created",
        "sent",
        "cancelled",
    ]
    assert sent["totals"] == created["totals"] != []
    assert cancelled["totals"] == []
    assert cancelled["count"] == 1
    assert cancelled["invoices"][0]["total"] == created["invoices"][0]["total"]


def test_a_reason_is_needed(month_end: MonthEnd, group: str) -> None:
    send(month_end, group)

    for reason in ("", "r" * 1001):
        ((field, _),) = read_violations(cancel(month_end, group, reason))
        assert field == "reason"
    assert month_end.get(path_of(group, "/state")).json()["state"] == "sent"


def test_others_cannot_cancel(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-2", "000000000002")
    send(month_end, group)
    reader = month_end.service.caller(RoleAction.ReadInvoice)
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[other])

    read_problem(cancel(month_end, group, headers=reader), 403)
    read_problem(cancel(month_end, group, headers=restricted), 404)
    assert month_end.get(path_of(group, "/state")).json()["state"] == "sent"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE invoices SET cancelled_time = NULL, cancelled_by = NULL, cancel_reason = NULL",
        "UPDATE invoices SET cancel_reason = 'another'",
        "DELETE FROM invoices",
    ],
)
def test_not_even_the_owner_changes_a_cancelled_invoice(
    month_end: MonthEnd, group: str, superuser: Address, change: str
) -> None:
    send(month_end, group)
    cancel(month_end, group)

    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, f"{change} WHERE company_id = $1", group)


def test_cancelling_changes_nothing_else_in_the_row(
    month_end: MonthEnd, group: str, superuser: Address
) -> None:
    send(month_end, group)

    change = "UPDATE invoices SET number = 7, cancelled_time = now(), cancelled_by = 'root'"
    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, f"{change}, cancel_reason = '' WHERE company_id = $1", group)


def test_cancelling_is_audited_with_the_reason(month_end: MonthEnd, group: str) -> None:
    send(month_end, group)
    cancel(month_end, group)

    (entry,) = month_end.get("/audit?action=cancel_invoice").json()

    assert entry["resource"] == f"invoice/{MONTH}/{group}/aws"
    assert entry["sent"] == {"reason": REASON}


def test_a_cancelled_invoice_counts_for_nothing(month_end: MonthEnd, group: str) -> None:
    send(month_end, group)
    cancel(month_end, group)

    listed = exact_json.decode_stored(month_end.get(f"/invoices/{MONTH}").text)
    totals = month_end.get(f"/invoice/{MONTH}/details").json()
    history = month_end.get(f"/billinggroup/{group}/history").json()
    tie_out = exact_json.decode_stored(month_end.get(f"/invoices/tie-out/{MONTH}?vendor=aws").text)
    again = exact_json.decode_stored(month_end.get(f"/invoices/tie-out/{MONTH}?vendor=aws").text)

    assert (listed["total"]["stock"], listed["total"]["sales"]) == (0, 0)
    (record,) = listed["billinggroup"]
    assert (record["invoice_no"], record["total"]["aws"]) == ("202609-0001", 0)
    assert totals == {"accounts": [], "billing_groups": []}
    assert history["months"] == []
    assert tie_out["state"] == "differs"
    assert {each["reason"] for each in tie_out["differences"]} == {"invoice_cancelled"}
    assert again == tie_out
