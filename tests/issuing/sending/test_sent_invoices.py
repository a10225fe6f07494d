"""Marking an invoice as sent, and what it refuses afterwards; PDF files of revisions."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.http.routing import REVISION_MAX
from tests.invoicing.invoice_runs import list_missing_reasons, prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations
from tests.temporary_database import execute_sql


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    company_id = prepare_example_a(month_end)
    month_end.create_invoices(company_id)
    return company_id


def path_of(group: str, rest: str = "") -> str:
    return f"/invoices/{MONTH}/{group}/aws{rest}"


def mark(month_end: MonthEnd, group: str, revision: int = 1, headers: Any = None) -> Any:
    return month_end.put(path_of(group, "/sent"), {"revision": revision}, headers)


def create_second_revision(month_end: MonthEnd, group: str) -> None:
    month_end.save_settings(group, discount_rate=Decimal(0))
    month_end.create_invoices(group)


def test_a_sent_invoice_names_its_time_and_its_user(month_end: MonthEnd, group: str) -> None:
    before = month_end.get(path_of(group, "/state")).json()
    marked = mark(month_end, group).json()

    assert (before["state"], before["sent_time"], before["sent_by"]) == ("created", None, None)
    assert (marked["invoice_no"], marked["revision"]) == ("202609-0001", 1)
    assert (marked["state"], marked["sent_by"]) == ("sent", "root")
    assert marked["sent_time"].endswith("Z")
    assert month_end.get(path_of(group, "/state")).json() == marked
    assert mark(month_end, group).json() == marked  # the first time stays


def test_a_sent_invoice_is_not_created_again(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(other)
    mark(month_end, group)
    before = month_end.get_invoice(group)
    month_end.save_settings(group, discount_rate=Decimal(0))

    named = month_end.create_invoices(group, other)
    bulk = month_end.create_invoices()

    assert read_problem(named, 409)["code"] == "not_ready"
    assert list_missing_reasons(named) == {group: "already_sent"}
    assert [invoice["company_id"] for invoice in bulk.json()["created"]] == [other]
    assert bulk.json()["skipped"] == [{"company_id": group, "reason": "already_sent"}]
    assert month_end.get_invoice(group) == before


def test_only_the_revision_that_was_seen_can_be_marked(month_end: MonthEnd, group: str) -> None:
    create_second_revision(month_end, group)

    assert read_problem(mark(month_end, group, 1), 409)["code"] == "revision_changed"
    read_problem(mark(month_end, group, 3), 404)
    for unknown in (0, REVISION_MAX + 1, True):
        (violation,) = read_violations(mark(month_end, group, unknown))
        assert violation == ("revision", f"a whole number from 1 to {REVISION_MAX}")
    assert month_end.get(path_of(group, "/state")).json()["state"] == "created"
    assert mark(month_end, group, 2).json()["state"] == "sent"


def test_other_groups_are_not_found(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-2", "000000000002")
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[other])

    read_problem(mark(month_end, group, headers=restricted), 404)
    for rest in ("/state", "/revisions/1", "/revisions/1/pdf"):
        read_problem(month_end.get(path_of(group, rest), restricted), 404)
    assert month_end.get(path_of(group, "/state")).json()["state"] == "created"


def test_reading_permission_does_not_mark(month_end: MonthEnd, group: str) -> None:
    reader = month_end.service.caller(RoleAction.ReadInvoice)

    read_problem(mark(month_end, group, headers=reader), 403)
    assert month_end.get(path_of(group, "/state"), reader).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE invoices SET revision = 2",
        "UPDATE invoices SET number = 7",
        "UPDATE invoices SET sent_time = NULL, sent_by = NULL",
        "DELETE FROM invoices",
    ],
)
def test_not_even_the_owner_changes_a_sent_invoice(
    month_end: MonthEnd, group: str, superuser: Address, change: str
) -> None:
    mark(month_end, group)

    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, f"{change} WHERE company_id = $1", group)


def test_the_invoices_cannot_be_truncated(superuser: Address) -> None:
    with pytest.raises(Exception, match="cannot be changed"):
        execute_sql(superuser, "TRUNCATE invoices CASCADE")


def test_each_revision_is_read_and_printed_as_it_was(month_end: MonthEnd, group: str) -> None:
    document = month_end.get(path_of(group)).content
    first = month_end.get(path_of(group, "/pdf"))
    create_second_revision(month_end, group)
    second = month_end.get(path_of(group, "/pdf"))

    assert month_end.get(path_of(group, "/revisions/1")).content == document
    assert month_end.get(path_of(group, "/revisions/1/pdf")).content == first.content
    assert month_end.get(path_of(group, "/revisions/2/pdf")).content == second.content
    assert first.content != second.content
    names = [response.headers["content-disposition"] for response in (first, second)]
    assert names == [
        'inline; filename="202609-0001-aws.pdf"',
        'inline; filename="202609-0001-aws-r2.pdf"',
    ]
    read_problem(month_end.get(path_of(group, "/revisions/3")), 404)
    read_problem(month_end.get(path_of(group, "/revisions/3/pdf")), 404)


def test_marking_is_audited_with_the_revision(month_end: MonthEnd, group: str) -> None:
    mark(month_end, group)

    (entry,) = month_end.get("/audit?action=mark_invoice_as_sent").json()

    assert entry["resource"] == f"invoice/{MONTH}/{group}/aws"
    assert entry["sent"] == {"revision": 1}
