"""PUT /m/core/invoices/{month}/sent marks many invoices as sent, all or none."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.issuing.sending.bodies import INVOICES_MAX
from tests.invoicing.invoice_runs import prepare_example_a, query_rows
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations
from tests.webhooks.published_events import list_published, subscribe

WAIT_SECONDS_MAX = 60


@pytest.fixture
def groups(month_end: MonthEnd) -> tuple[str, str]:
    first = prepare_example_a(month_end)
    second = month_end.create_group("BG-2", "000000000002")
    month_end.prepare_groups(second)
    for group in (first, second):  # one after the other, which decides the numbers
        created = month_end.create_invoices(group)
        assert created.status_code == 200, created.text
    return first, second


def path_of(group: str, rest: str = "") -> str:
    return f"/invoices/{MONTH}/{group}/aws{rest}"


def mark(month_end: MonthEnd, revisions: dict[str, Any], headers: Any = None) -> Any:
    body = {"vendor": "aws", "revisions": revisions}
    return month_end.put(f"/invoices/{MONTH}/sent", body, headers)


def read_states(month_end: MonthEnd, *groups: str) -> list[str]:
    return [month_end.get(path_of(group, "/state")).json()["state"] for group in groups]


def read_reasons(response: Any) -> list[tuple[str, str]]:
    problem = read_problem(response, 409)
    assert problem["code"] == "not_ready"
    return [(each["field"], each["rule"]) for each in problem["violations"]]


def test_invoices_are_marked_together(month_end: MonthEnd, groups: tuple[str, str]) -> None:
    first, second = groups

    response = mark(month_end, {second: 1, first: 1})

    assert response.status_code == 200, response.text
    assert response.json() == {
        "marked": [
            {"company_id": first, "invoice_no": "202609-0001", "revision": 1},
            {"company_id": second, "invoice_no": "202609-0002", "revision": 1},
        ],
        "already_sent": [],
    }
    for group in groups:
        status = month_end.get(path_of(group, "/state")).json()
        assert (status["state"], status["sent_by"]) == ("sent", "root")
        assert status["publish_time"] == status["sent_time"]


def test_an_invoice_that_was_sent_keeps_its_time_and_user(
    month_end: MonthEnd, groups: tuple[str, str]
) -> None:
    first, second = groups
    clerk = month_end.service.caller(RoleAction.ModifyInvoice)
    sent = month_end.put(path_of(first, "/sent"), {"revision": 1}).json()

    response = mark(month_end, {first: 1, second: 1}, clerk).json()

    assert [each["company_id"] for each in response["marked"]] == [second]
    assert [each["company_id"] for each in response["already_sent"]] == [first]
    assert month_end.get(path_of(first, "/state")).json() == sent
    again = mark(month_end, {first: 1, second: 1}).json()
    assert [each["company_id"] for each in again["already_sent"]] == [first, second]
    assert again["marked"] == []
    assert len(month_end.get("/audit?action=mark_invoice_as_sent").json()) == 2


def test_a_cancelled_invoice_refuses_all(month_end: MonthEnd, groups: tuple[str, str]) -> None:
    first, second = groups
    mark(month_end, {first: 1})
    month_end.put(path_of(first, "/cancelled"), {"reason": "a mistake"})

    assert read_reasons(mark(month_end, {first: 1, second: 1})) == [(first, "cancelled")]

    assert read_states(month_end, first, second) == ["cancelled", "created"]


def test_another_revision_refuses_all(month_end: MonthEnd, groups: tuple[str, str]) -> None:
    first, second = groups
    month_end.save_settings(second, discount_rate=Decimal(0))
    month_end.create_invoices(second)

    refused = mark(month_end, {first: 1, second: 1})

    assert read_reasons(refused) == [(second, "revision_changed")]
    assert read_states(month_end, first, second) == ["created", "created"]
    assert mark(month_end, {first: 1, second: 2}).status_code == 200


def test_every_problem_is_named(month_end: MonthEnd, groups: tuple[str, str]) -> None:
    first, second = groups
    without_invoice = month_end.create_group("BG-3", "000000000003")
    mark(month_end, {first: 1})
    month_end.put(path_of(first, "/cancelled"), {"reason": "a mistake"})

    refused = mark(month_end, {first: 7, second: 2, without_invoice: 1})

    assert sorted(read_reasons(refused)) == sorted(
        [
            (first, "cancelled"),
            (first, "revision_changed"),
            (second, "revision_changed"),
            (without_invoice, "no_invoice"),
        ]
    )


def test_an_outdated_invoice_can_be_marked_as_on_its_own(
    month_end: MonthEnd, groups: tuple[str, str]
) -> None:
    first, second = groups
    month_end.save_settings(first, second, discount_rate=Decimal(0))

    alone = month_end.put(path_of(first, "/sent"), {"revision": 1})
    together = mark(month_end, {second: 1})

    assert (alone.status_code, together.status_code) == (200, 200)


def test_other_groups_are_refused_like_unknown_ones(
    month_end: MonthEnd, groups: tuple[str, str]
) -> None:
    first, second = groups
    restricted = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[second])
    expected = [("revisions", "existing billing groups")]

    assert read_violations(mark(month_end, {first: 1, second: 1}, restricted)) == expected
    assert read_violations(mark(month_end, {"com_unknown": 1, second: 1})) == expected
    assert read_states(month_end, first, second) == ["created", "created"]

    own = mark(month_end, {second: 1}, restricted).json()
    assert [each["company_id"] for each in own["marked"]] == [second]


def test_reading_permission_does_not_mark(month_end: MonthEnd, groups: tuple[str, str]) -> None:
    reader = month_end.service.caller(RoleAction.ReadInvoice)

    read_problem(mark(month_end, {groups[0]: 1}, reader), 403)


@pytest.mark.parametrize("number", [0, INVOICES_MAX + 1])
def test_the_number_of_invoices_is_limited(month_end: MonthEnd, number: int) -> None:
    revisions = {f"com_{index}": 1 for index in range(number)}

    violations = read_violations(mark(month_end, revisions))

    assert violations == [("revisions", f"1 to {INVOICES_MAX} invoices")]


def test_each_marked_invoice_is_announced_once(
    month_end: MonthEnd, groups: tuple[str, str]
) -> None:
    first, second = groups
    mark(month_end, {first: 1})
    subscribe(month_end.service)
    third = month_end.create_group("BG-3", "000000000003")
    read_reasons(mark(month_end, {second: 1, third: 1}))
    assert list_published(month_end.service) == []

    mark(month_end, {first: 1, second: 1})
    mark(month_end, {first: 1, second: 1})

    facts = {"month": MONTH, "vendor": "aws", "invoice_no": "202609-0002", "revision": 1}
    assert list_published(month_end.service) == [("invoice.sent", {"company_id": second} | facts)]


def test_each_marked_invoice_is_audited(month_end: MonthEnd, groups: tuple[str, str]) -> None:
    mark(month_end, dict.fromkeys(groups, 1))

    entries = month_end.get("/audit?action=mark_invoice_as_sent").json()

    assert {entry["resource"] for entry in entries} == {
        f"invoice/{MONTH}/{group}/aws" for group in groups
    }
    assert [entry["sent"] for entry in entries] == [{"revision": 1}] * 2
    assert len({entry["request_id"] for entry in entries}) == 1


def count_pdfs(month_end: MonthEnd) -> int:
    ((count,),) = query_rows(month_end, "SELECT count(*) FROM invoice_pdfs")
    return int(count)


def test_an_invoice_is_printed_afterwards_as_before(
    month_end: MonthEnd, groups: tuple[str, str]
) -> None:
    first, _ = groups
    printed = month_end.get(path_of(first, "/pdf")).content
    before = count_pdfs(month_end)

    mark(month_end, dict.fromkeys(groups, 1))

    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while count_pdfs(month_end) < before + 1:  # the job stores the one that nobody has printed
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert month_end.get(path_of(first, "/pdf")).content == printed
    assert month_end.get(path_of(first, "/revisions/1/pdf")).content == printed
