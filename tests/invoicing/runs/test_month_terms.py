"""PUT /m/core/invoices/save/{month}/{company_id}/{vendor} and GET /m/core/invoices/saved-months"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from tests.costs.months.month_requests import close_month, reopen_month
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.imports.aws_reports import report_line
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem

ACCOUNT = "000000000001"


def use_defaults(month_end: MonthEnd, group: str, vendor: str = "aws", headers: Any = None) -> Any:
    path = f"/m/core/invoices/save/{month_end.month}/{group}/{vendor}"
    return month_end.service.http.put(path, headers=headers or month_end.service.root())


def list_saved(month_end: MonthEnd, group: str, vendor: str = "aws") -> Any:
    response = month_end.get(f"/invoices/saved-months/{group}/{vendor}")
    assert response.status_code == 200, response.text
    return response.json()


def read_saved(month_end: MonthEnd, group: str) -> Any:
    listed = month_end.get(f"/invoices/{MONTH}?search={group}").json()["billinggroup"]
    return listed[0]["saved_data"]["aws"]


@pytest.fixture
def group(month_end: MonthEnd) -> str:
    """A group whose terms of the month have another discount than its default terms."""
    company_id = month_end.create_group("BG-1", ACCOUNT, invoices={"aws": VALID_SETTING})
    month_end.prepare_groups(company_id, memo="agreed", discount_rate=Decimal("0.12"))
    return company_id


def test_the_default_terms_replace_those_of_the_month(month_end: MonthEnd, group: str) -> None:
    assert read_saved(month_end, group)["discount_rate"] == 0.12

    response = use_defaults(month_end, group)

    assert (response.status_code, response.json()) == (200, {"status": "success"})
    saved = read_saved(month_end, group)
    assert (saved["memo"], saved["exchange_rate"]) == ("agreed", 150.25)
    assert {name: saved[name] for name in VALID_SETTING} == VALID_SETTING


def test_terms_are_saved_for_a_month_that_has_none(month_end: MonthEnd, group: str) -> None:
    later = replace(month_end, month="2026-10")

    assert use_defaults(later, group).status_code == 200

    assert [row["month"] for row in list_saved(month_end, group)] == ["2026-10", MONTH]


def test_other_groups_and_vendors_keep_their_terms(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-2")
    month_end.prepare_groups(other, discount_rate=Decimal("0.12"))
    azure = replace(month_end, vendor="azure")
    azure.prepare_groups(group, support_fee="fix")

    use_defaults(month_end, group)

    assert read_saved(month_end, other)["discount_rate"] == 0.12
    assert list_saved(month_end, group, "azure")[0]["terms_differ"] is True


def test_a_closed_month_keeps_its_terms(month_end: MonthEnd, group: str) -> None:
    close_month(month_end.service, MONTH)

    response = use_defaults(month_end, group)

    assert read_problem(response, 409)["code"] == "month_closed"
    assert read_saved(month_end, group)["discount_rate"] == 0.12
    assert list_saved(month_end, group) == []

    reopen_month(month_end.service, MONTH)
    assert [row["month"] for row in list_saved(month_end, group)] == [MONTH]


def test_a_group_without_default_terms_is_refused(month_end: MonthEnd, group: str) -> None:
    response = use_defaults(month_end, group, "azure")

    problem = read_problem(response, 409)
    assert problem["code"] == "not_ready"
    assert problem["violations"] == [{"field": group, "rule": "settings_missing"}]
    assert list_saved(month_end, group, "azure") == []


def test_unknown_groups_are_not_found(month_end: MonthEnd) -> None:
    assert use_defaults(month_end, "cmp_unknown").status_code == 404
    assert month_end.get("/invoices/saved-months/cmp_unknown/aws").status_code == 404


def test_a_restricted_caller_changes_visible_groups_only(month_end: MonthEnd, group: str) -> None:
    other = month_end.create_group("BG-2")
    clerk = month_end.service.caller(RoleAction.ModifyInvoice, billing_groups=[group])

    assert use_defaults(month_end, group, headers=clerk).status_code == 200
    assert use_defaults(month_end, other, headers=clerk).status_code == 404


def test_open_months_tell_whether_they_differ_and_have_an_invoice(
    month_end: MonthEnd, group: str
) -> None:
    assert list_saved(month_end, group) == [
        {"month": MONTH, "invoiced": False, "terms_differ": True}
    ]

    use_defaults(month_end, group)
    month_end.import_costs(report_line("3", UsageAccountId=ACCOUNT))
    assert month_end.create_invoices(group).status_code == 200

    assert list_saved(month_end, group) == [
        {"month": MONTH, "invoiced": True, "terms_differ": False}
    ]


def test_a_corrected_discount_reaches_the_invoice(month_end: MonthEnd, group: str) -> None:
    month_end.import_costs(report_line("1000", UsageAccountId=ACCOUNT))
    month_end.create_invoices(group)
    before = month_end.get_invoice(group)

    use_defaults(month_end, group)
    month_end.create_invoices(group)

    after = month_end.get_invoice(group)
    assert before["setting"]["discount_rate"] == Decimal("0.12")
    assert after["setting"]["discount_rate"] != Decimal("0.12")
    assert after["exchange_rate"] == before["exchange_rate"]
