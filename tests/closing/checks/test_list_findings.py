"""GET /m/core/checks/{month}"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem, read_violations

AUGUST = "2026-08"
GROUPS = ("stable", "grown", "cheap", "new", "gone", "silent")
ACCOUNTS = {name: f"00000000000{number}" for number, name in enumerate(GROUPS, start=1)}
SECOND_ACCOUNT = "000000000009"  # of the stable group
AUGUST_COLUMNS = {
    "BillingPeriodStartDate": "2026-08-01T00:00:00Z",
    "UsageStartDate": "2026-08-05T10:00:00Z",
    "UsageEndDate": "2026-08-05T11:00:00Z",
}


@pytest.fixture(scope="module")
def groups(shared_month_end: MonthEnd) -> dict[str, str]:
    """Groups with costs and invoices in August and September."""
    september, august = shared_month_end, replace(shared_month_end, month=AUGUST)
    groups = {name: september.create_group(name, ACCOUNTS[name]) for name in GROUPS}
    september.add_account(groups["stable"], SECOND_ACCOUNT)
    usual = dict.fromkeys(["stable", "grown", "cheap", "silent"], "10000")
    in_august = usual | {"gone": "10000"}
    in_september = usual | {"grown": "15000.01", "new": "700"}
    august.import_costs(
        *(_cost(name, cost, **AUGUST_COLUMNS) for name, cost in in_august.items()),
        report_line("1.5", UsageAccountId=SECOND_ACCOUNT, **AUGUST_COLUMNS),
    )
    september.import_costs(*(_cost(name, cost) for name, cost in in_september.items()))
    _create(august, groups, in_august)
    _create(september, groups, [name for name in in_september if name != "silent"])
    return groups


def _cost(name: str, cost: str, **columns: str) -> dict[str, str]:
    return report_line(cost, UsageAccountId=ACCOUNTS[name], **columns)


def _create(month_end: MonthEnd, groups: dict[str, str], names: Any) -> None:
    company_ids = [groups[name] for name in names]
    month_end.prepare_groups(*company_ids)
    if month_end.month == MONTH:
        month_end.save_settings(groups["cheap"], discount_rate=Decimal("0.25"))
    response = month_end.create_invoices(*company_ids)
    assert response.status_code == 200, response.text


def read_checks(month_end: MonthEnd, query: str = "", headers: Any = None) -> Any:
    response = month_end.get(f"/checks/{MONTH}?vendor=aws{query}", headers)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)


def list_codes(checks: Any) -> dict[tuple[str, str], str]:
    return {
        (finding["billinggroup_id"], finding["code"]): finding["cause"]
        for finding in checks["findings"]
    }


def test_a_month_is_compared_with_the_one_before(
    shared_month_end: MonthEnd, groups: dict[str, str]
) -> None:
    checks = read_checks(shared_month_end)

    assert list_codes(checks) == {
        ("cheap", "margin_below_limit"): "sold_below_cost",
        ("gone", "vanished_customer"): "no_costs",
        ("gone", "missing_data"): "account_without_costs",
        ("grown", "change_above_limit"): "usage",
        ("new", "new_customer"): "no_invoice_before",
        ("silent", "vanished_customer"): "not_invoiced",
        ("stable", "missing_data"): "account_without_costs",
    }
    assert (checks["change_limit"], checks["margin_limit"]) == (Decimal("0.3"), 0)
    assert checks["total"] == sum(checks["counts"].values()) == 7
    assert checks["counts"]["vanished_customer"] == 2


def test_a_finding_has_the_figures_of_both_months_and_leads_to_the_invoice(
    shared_month_end: MonthEnd, groups: dict[str, str]
) -> None:
    (grown,) = read_checks(shared_month_end, "&code=change_above_limit")["findings"]
    invoice = shared_month_end.get_invoice(groups["grown"])
    earlier = replace(shared_month_end, month=AUGUST).get_invoice(groups["grown"])

    amount, before = invoice["sheet"]["pre_tax"], earlier["sheet"]["pre_tax"]
    assert (grown["company_id"], grown["vendor"], grown["month"]) == (groups["grown"], "aws", MONTH)
    assert grown["invoice_no"] == invoice["invoice_no"]
    assert (grown["currency"], grown["amount"], grown["amount_before"]) == ("jpy", amount, before)
    assert grown["change"] == Decimal("0.4864")
    assert grown["vendor_cost"] == 2253752  # 15000.01 × 150.25 = 2253751.5025
    assert grown["margin"] == amount - 2253752
    assert grown["margin_rate"] == Decimal("0.0624")


def test_an_account_without_costs_is_named_with_its_costs_before(
    shared_month_end: MonthEnd, groups: dict[str, str]
) -> None:
    found = read_checks(shared_month_end, "&code=missing_data")["findings"][-1]

    assert (found["customer_id"], found["customer_name"]) == (
        SECOND_ACCOUNT,
        f"account {SECOND_ACCOUNT}",
    )
    assert (found["amount_before"], found["currency"]) == (Decimal("1.5"), "usd")


def test_findings_are_paged(shared_month_end: MonthEnd, groups: dict[str, str]) -> None:
    everything = read_checks(shared_month_end)

    page = read_checks(shared_month_end, "&limit=2&offset=3")

    assert page["findings"] == everything["findings"][3:5]
    assert (page["total"], page["counts"]) == (7, everything["counts"])


def test_a_restricted_caller_sees_findings_of_its_groups_only(
    shared_month_end: MonthEnd, groups: dict[str, str]
) -> None:
    headers = shared_month_end.service.caller(
        RoleAction.ReadInvoice, billing_groups=[groups["stable"], groups["gone"]]
    )

    checks = read_checks(shared_month_end, headers=headers)

    assert {finding["billinggroup_id"] for finding in checks["findings"]} == {"stable", "gone"}
    assert checks["counts"] == {"vanished_customer": 1, "missing_data": 2}


def test_the_limits_are_settings_of_the_organisation(
    shared_month_end: MonthEnd, groups: dict[str, str]
) -> None:
    other = {"check_change_limit": Decimal("0.6"), "check_margin_limit": Decimal("-0.5")}
    assert shared_month_end.put("/settings", other).status_code == 200

    codes = read_checks(shared_month_end)["counts"]
    usual = {"check_change_limit": Decimal("0.3"), "check_margin_limit": 0}
    assert shared_month_end.put("/settings", usual).status_code == 200

    assert codes.keys() == {"new_customer", "vanished_customer", "missing_data"}


def test_limits_and_codes_outside_their_range_are_refused(shared_month_end: MonthEnd) -> None:
    body = {"check_change_limit": -1, "check_margin_limit": 2}
    settings = shared_month_end.put("/settings", body)
    code = shared_month_end.get(f"/checks/{MONTH}?code=odd")

    assert read_violations(settings) == [
        ("check_change_limit", "from 0 to 100, where 1 is 100 %"),
        ("check_margin_limit", "from -1 to 1, where 1 is 100 %"),
    ]
    assert read_problem(code, 400)["code"] == "rule_broken"
