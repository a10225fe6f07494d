"""Invoices are outdated when what they were calculated from was changed since."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.closing.steps.ready_month import OTHER_ACCOUNT, build_ready_month
from tests.costs.months.month_requests import close_month
from tests.customers.billing_groups.sample_bodies import FREE_FORMAT_ITEM
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem

Change = Callable[[MonthEnd, str], Any]


def save_items(month_end: MonthEnd, group: str, **fields: Any) -> Any:
    body = {"additional_items": [FREE_FORMAT_ITEM | fields]}
    return month_end.post(f"/billinggroup/{group}/freeformat/aws", body)


def read_created_step(month_end: MonthEnd) -> tuple[str, list[tuple[str, list[str]]]]:
    status = month_end.get(f"/months/{MONTH}?vendor=aws").json()
    (created,) = [step for step in status["steps"] if step["step"] == "created"]
    return created["state"], [(b["reason"], b["subjects"]) for b in created["blockers"]]


def list_outdated(month_end: MonthEnd) -> dict[str, bool]:
    summary = month_end.get(f"/invoices/{MONTH}/summary?vendor=aws").json()
    return {row["company_id"]: row["outdated"] for row in summary["invoices"]}


CHANGES: dict[str, Change] = {
    "rate": lambda month_end, group: month_end.save_rate(group, rate=Decimal("150.5")),
    "terms": lambda month_end, group: month_end.save_settings(group, discount_rate=Decimal("0.1")),
    "memo": lambda month_end, group: month_end.save_settings(group, memo="corrected"),
    "item": save_items,
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_invoice_is_outdated_until_it_is_created_again(month_end: MonthEnd, name: str) -> None:
    group = build_ready_month(month_end)
    assert (read_created_step(month_end), list_outdated(month_end)) == (
        ("done", []),
        {group: False},
    )

    response = CHANGES[name](month_end, group)

    assert response.status_code == 200, response.text
    assert read_created_step(month_end) == ("ready", [("invoices_outdated", [group])])
    assert list_outdated(month_end) == {group: True}

    month_end.create_invoices(group)
    assert (read_created_step(month_end), list_outdated(month_end)) == (
        ("done", []),
        {group: False},
    )


def test_saving_the_same_values_again_makes_no_difference(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    save_items(month_end, group, label="Consulting 相談", unit_cost=Decimal("10.50"))
    save_items(month_end, group, label="Consulting 相談", unit_cost=Decimal("10.50"))
    month_end.create_invoices(group)

    month_end.save_settings(group, discount_rate=Decimal("0.0500"))
    month_end.save_rate(group, rate=Decimal("150.250"))
    save_items(month_end, group, label="Consulting 相談", unit_cost=Decimal("10.5"))

    assert read_created_step(month_end) == ("done", [])


def test_a_disabled_item_is_not_on_the_invoice(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)

    save_items(month_end, group, enabled=False)

    assert read_created_step(month_end) == ("done", [])


def test_only_changed_groups_are_outdated(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    other = month_end.create_group("BG-2", OTHER_ACCOUNT)
    month_end.prepare_groups(other)
    month_end.import_costs(
        report_line("3", UsageAccountId="000000000001"),
        report_line("4", UsageAccountId=OTHER_ACCOUNT),
    )
    month_end.create_invoices()

    month_end.save_rate(other, rate=151)

    assert list_outdated(month_end) == {group: False, other: True}


def test_a_month_with_outdated_invoices_is_closed_for_a_reason_only(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    month_end.save_rate(group, rate=151)

    refused = close_month(month_end.service, MONTH, override=None, reason=None)

    problem = read_problem(refused, 409)
    assert problem["code"] == "month_not_ready"
    assert problem["violations"] == [{"field": group, "rule": "invoices_outdated"}]
    closed = close_month(month_end.service, MONTH, override=True, reason="agreed")
    assert closed.json()["overridden"] == [{"field": group, "rule": "invoices_outdated"}]


def test_items_for_later_months_do_not_change_a_closed_month(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    close_month(month_end.service, MONTH)

    assert save_items(month_end, group).status_code == 200

    assert (read_created_step(month_end), list_outdated(month_end)) == (
        ("done", []),
        {group: False},
    )


def test_a_month_tells_its_rates(month_end: MonthEnd) -> None:
    build_ready_month(month_end)
    second, third = month_end.create_group("BG-2"), month_end.create_group("BG-3")
    month_end.prepare_groups(second, third)
    month_end.save_rate(third, rate=151)

    status = month_end.get(f"/months/{MONTH}?vendor=aws").json()

    assert status["exchange_rates"] == [
        {"exchange_rate": 150.25, "groups": 2},
        {"exchange_rate": 151, "groups": 1},
    ]
    listed = month_end.get("/months?steps=false").json()
    assert [row["exchange_rates"] for row in listed] == [[]]


def test_an_invoice_that_was_sent_stays_as_it_is(month_end: MonthEnd) -> None:
    group = build_ready_month(month_end)
    sent = month_end.put(f"/invoices/{MONTH}/{group}/aws/sent", {"revision": 1})
    assert sent.status_code == 200, sent.text

    month_end.save_rate(group, rate=151)

    assert list_outdated(month_end) == {group: False}
