"""GET /m/core/billinggroup/{company_id}/history"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.costs.months.month_requests import close_month
from tests.invoicing.invoice_runs import prepare_example_a
from tests.invoicing.month_end import MONTH, MonthEnd
from tests.problem_responses import read_problem


@pytest.fixture(scope="module")
def group(shared_month_end: MonthEnd) -> str:
    """Worked example A in September; July has an invoice without costs, and is closed."""
    company_id = prepare_example_a(shared_month_end)
    july = replace(shared_month_end, month="2026-07")
    july.prepare_groups(company_id, substitution_fee="fix")
    for month_end in (shared_month_end, july):
        assert month_end.create_invoices(company_id).status_code == 200
    assert close_month(shared_month_end.service, "2026-07").status_code == 200
    return company_id


def send(month_end: MonthEnd, group: str, query: str = "", headers: Any = None) -> Any:
    return month_end.get(f"/billinggroup/{group}/history{query}", headers)


def list_months(month_end: MonthEnd, group: str, query: str = "") -> Any:
    response = send(month_end, group, query)
    assert response.status_code == 200, response.text
    return exact_json.decode_stored(response.text)["months"]


def test_the_history_has_amounts_cost_and_margin_of_each_invoice(
    shared_month_end: MonthEnd, group: str
) -> None:
    september, july = list_months(shared_month_end, group)

    assert september.pop("create_time")
    assert september == {
        "month": MONTH,
        "vendor": "aws",
        "invoice_no": "202609-0001",
        "revision": 1,
        "state": "open",
        "currency": "jpy",
        "exchange_rate": Decimal("150.25"),
        "pre_tax": 173156,
        "tax": 17316,
        "total": 190472,
        "vendor_cost": 160874,  # 1070.706456789 × 150.25 = 160873.645...
        "margin": 12282,
        "margin_rate": Decimal("0.0709"),
    }
    assert (july["month"], july["state"]) == ("2026-07", "closed")
    assert (july["pre_tax"], july["margin_rate"]) == (0, None)


def test_the_months_end_with_the_newest_invoice(shared_month_end: MonthEnd, group: str) -> None:
    assert len(list_months(shared_month_end, group, "?months=3")) == 2
    assert len(list_months(shared_month_end, group, "?months=2")) == 1
    read_problem(send(shared_month_end, group, "?months=0"), 400)


def test_a_group_without_invoices_has_no_months(shared_month_end: MonthEnd, group: str) -> None:
    other = shared_month_end.create_group("BG-Z")

    assert list_months(shared_month_end, other) == []


def test_a_restricted_caller_reads_the_history_of_its_groups_only(
    shared_month_end: MonthEnd, group: str
) -> None:
    other = shared_month_end.create_group("BG-Y")
    own, foreign = (
        shared_month_end.service.caller(RoleAction.ReadInvoice, billing_groups=[each])
        for each in (group, other)
    )

    assert send(shared_month_end, group, headers=own).status_code == 200
    read_problem(send(shared_month_end, group, headers=foreign), 404)
