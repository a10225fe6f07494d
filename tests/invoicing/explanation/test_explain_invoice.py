"""GET /m/core/invoices/{month}/{company_id}/{vendor}/explanation"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations

ANOTHER_DAY = {
    "UsageStartDate": "2026-09-06T10:00:00Z",
    "UsageEndDate": "2026-09-06T11:00:00Z",
}
# worked example A, with the first amount on two days
COSTS = (
    report_line("900.1234567890", UsageAccountId=ACCOUNTS_OF_A[0], Team="red"),
    report_line("100", UsageAccountId=ACCOUNTS_OF_A[0], **ANOTHER_DAY),
    *EXAMPLE_A[1:],
)


@pytest.fixture(scope="module")
def group(shared_month_end: MonthEnd) -> str:
    company_id = shared_month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    shared_month_end.import_costs(*COSTS)
    shared_month_end.prepare_groups(company_id)
    assert shared_month_end.create_invoices(company_id).status_code == 200
    return company_id


def send(month_end: MonthEnd, group: str, query: str = "", headers: Any = None) -> Any:
    return month_end.get(f"/invoices/{MONTH}/{group}/aws/explanation{query}", headers)


def explain(month_end: MonthEnd, group: str, line: str | None = None) -> Any:
    response = send(month_end, group, "" if line is None else f"?line={line}")
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def explain_line(month_end: MonthEnd, group: str, line: str) -> Any:
    (amount,) = explain(month_end, group, line)["lines"]
    return amount


def test_every_amount_of_an_invoice_is_explained(shared_month_end: MonthEnd, group: str) -> None:
    found = explain(shared_month_end, group)

    assert (found["invoice_no"], found["currency"], found["cost_currency"]) == (
        "202609-0001",
        "jpy",
        "usd",
    )
    amounts = {amount["line"]: amount for amount in found["lines"]}
    assert {name: amount["amount"] for name, amount in amounts.items()} == {
        "usage-1": 142755,
        "usage-2": 7173,
        "usage-3": 2902,
        "support": 15283,
        "agency": 5043,
        "pre_tax": 173156,
        "tax": 17316,
        "total": 190472,
    }
    assert amounts["usage-1"] | {"working": "", "rule_text": ""} == {
        "line": "usage-1",
        "kind": "usage",
        "label": "AmazonEC2",
        "customer_id": ACCOUNTS_OF_A[0],
        "customer_name": f"account {ACCOUNTS_OF_A[0]}",
        "tag": None,
        "service": "AmazonEC2",
        "rule": "usage",
        "rule_text": "",
        "charge": 150269,
        "amount": 142755,
        "base": Decimal("1000.123456789"),
        "base_currency": "usd",
        "discount_rate": Decimal("0.05"),
        "exchange_rate": Decimal("150.25"),
        "unrounded": Decimal("142755.1219134198875"),
        "working": "",
        "sources": [f"{ACCOUNTS_OF_A[0]} AmazonEC2"],
        "by_day": False,
        "parts": None,
    }


def test_usage_is_split_into_days_that_add_up_exactly(
    shared_month_end: MonthEnd, group: str
) -> None:
    amount = explain_line(shared_month_end, group, "usage-1")

    days = [(part["day"], part["amount"]) for part in amount["parts"]]
    assert days == [("2026-09-05", Decimal("900.123456789")), ("2026-09-06", 100)]
    assert sum(part["amount"] for part in amount["parts"]) == amount["base"]
    assert amount["by_day"] is True


def test_a_fee_is_split_into_the_lines_of_its_base(shared_month_end: MonthEnd, group: str) -> None:
    agency = explain_line(shared_month_end, group, "agency")

    assert [part["line"] for part in agency["parts"]] == [
        "usage-1",
        "usage-2",
        "usage-3",
        "support",
    ]
    assert sum(part["amount"] for part in agency["parts"]) == agency["base"]
    assert agency["parts"][0]["amount"] == Decimal("950.11728394955")  # after discount


def test_costs_that_were_imported_again_are_not_split_into_days(
    shared_month_end: MonthEnd, group: str
) -> None:
    changed = report_line("0.01", UsageAccountId=ACCOUNTS_OF_A[0], **ANOTHER_DAY)
    shared_month_end.import_costs(*COSTS, changed)

    amount = explain_line(shared_month_end, group, "usage-1")
    shared_month_end.import_costs(*COSTS)

    assert (amount["by_day"], [part["day"] for part in amount["parts"]]) == (False, [None])
    assert amount["parts"][0]["amount"] == amount["base"] == Decimal("1000.123456789")


def test_an_unknown_line_is_refused(shared_month_end: MonthEnd, group: str) -> None:
    response = send(shared_month_end, group, "?line=usage-9")

    rule = "a line of this invoice, such as usage-1 or total"
    assert read_violations(response) == [("line", rule)]


def test_a_restricted_caller_reads_explanations_of_its_groups_only(
    shared_month_end: MonthEnd, group: str
) -> None:
    other = shared_month_end.create_group("BG-Z")
    own, foreign = (
        shared_month_end.service.caller(RoleAction.ReadInvoice, billing_groups=[each])
        for each in (group, other)
    )

    assert send(shared_month_end, group, headers=own).status_code == 200
    read_problem(send(shared_month_end, group, headers=foreign), 404)
