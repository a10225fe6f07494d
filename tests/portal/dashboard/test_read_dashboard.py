"""GET /m/portal/dashboard"""

from __future__ import annotations

import pytest

from tests.customers.resellers.reseller_accounts import change_meta
from tests.portal.budgets.budget_requests import COMPANY_BUDGET, store_budgets
from tests.portal.daily_costs import FIRST, MONTH, SECOND, YEN_PER_DOLLAR
from tests.portal.portal_customer import PortalCustomer, filter_accounts
from tests.problem_responses import read_problem, read_violations

DASHBOARD = "/dashboard"


def test_thirteen_months_are_shown_by_default(daily_customer: PortalCustomer) -> None:
    body = daily_customer.get(DASHBOARD)

    assert {total["month"]: total["amount"] / YEN_PER_DOLLAR for total in body["totals"]} == {
        "2026-06": 30 * 15,
        "2026-07": 31 * 15,
        "2026-08": 31 * 15,
        MONTH: 15 * 15 + 30,
    }
    assert {total["currency"] for total in body["totals"]} == {"jpy"}
    assert [month["month"] for month in body["months"]] == ["2026-06", "2026-07", "2026-08", MONTH]


def test_the_month_to_date_is_compared_with_the_same_days(daily_customer: PortalCustomer) -> None:
    (compared,) = daily_customer.get(DASHBOARD)["month_to_date"]

    assert compared == {
        "currency": "jpy",
        "amount": (15 * 15 + 30) * YEN_PER_DOLLAR,
        "previous_amount": 15 * 15 * YEN_PER_DOLLAR,
    }


def test_the_largest_costs_are_those_of_the_last_month(daily_customer: PortalCustomer) -> None:
    body = daily_customer.get(DASHBOARD, **{"from": "2026-07", "to": "2026-08"})

    assert body["top_month"] == "2026-08"
    assert [(each["customer_id"], each["amount"]) for each in body["top_accounts"]] == [
        (FIRST, 310 * YEN_PER_DOLLAR),
        (SECOND, 155 * YEN_PER_DOLLAR),
    ]
    assert body["top_accounts"][0]["customer_name"] == f"account {FIRST}"
    assert [each["service"] for each in body["top_services"]] == ["AmazonEC2", "AmazonRDS"]
    assert [total["month"] for total in body["totals"]] == ["2026-07", "2026-08"]
    assert body["anomalies"] == 0


def test_a_month_without_costs_shows_the_largest_costs_of_the_newest_one_with_costs(
    daily_customer: PortalCustomer,
) -> None:
    body = daily_customer.get(DASHBOARD, **{"from": "2026-07", "to": "2026-12"})

    assert body["top_month"] == MONTH
    assert [each["service"] for each in body["top_services"]] == ["AmazonEC2", "AmazonRDS"]
    assert body["anomalies"] == len(daily_customer.get("/anomalies", month=MONTH)["anomalies"]) == 1


def test_without_any_costs_the_last_month_is_named(customer: PortalCustomer) -> None:
    body = customer.get(DASHBOARD, **{"from": "2020-01", "to": "2020-02"})

    assert (body["top_month"], body["top_accounts"], body["anomalies"]) == ("2020-02", [], 0)


def test_forecast_anomalies_and_budgets_equal_their_own_pages(
    daily_customer: PortalCustomer,
) -> None:
    store_budgets(daily_customer, COMPANY_BUDGET)

    body = daily_customer.get(DASHBOARD)

    assert body["forecasts"] == daily_customer.get("/forecast")["forecasts"]
    assert body["budgets"] == daily_customer.get("/budgets")["budgets"]
    assert body["anomalies"] == len(daily_customer.get("/anomalies")["anomalies"]) == 1
    assert body["unpriced"] == []


def test_a_filtered_user_without_budgets_sees_a_part(daily_customer: PortalCustomer) -> None:
    headers = daily_customer.create_subuser(
        "dashboarder", ["ReadAccount"], [filter_accounts(SECOND)]
    )

    body = daily_customer.get(DASHBOARD, headers)

    assert body["totals"][-1]["amount"] == 75 * YEN_PER_DOLLAR
    assert [each["customer_id"] for each in body["top_accounts"]] == [SECOND]
    assert (body["anomalies"], body["budgets"]) == (0, None)


def test_pages_that_are_switched_off_are_not_shown_in_part(customer: PortalCustomer) -> None:
    flags = {"usage_account": False, "usage_account_menu_budget": False}
    change_meta(customer.service, customer.reseller.user_id, **flags)

    body = customer.get(DASHBOARD)

    assert (body["anomalies"], body["budgets"]) == (None, None)
    assert (body["totals"], body["forecasts"], body["month_to_date"]) == ([], [], [])


@pytest.mark.parametrize(
    ("parameters", "field"),
    [({"from": "2026-10", "to": MONTH}, "from"), ({"to": "x"}, "to")],
)
def test_a_wrong_period_is_refused_by_name(
    customer: PortalCustomer, parameters: dict[str, str], field: str
) -> None:
    response = customer.service.http.get(
        f"/m/portal{DASHBOARD}", params=parameters, headers=customer.reseller.portal
    )

    assert [name for name, _ in read_violations(response)] == [field]


def test_the_flag_of_the_dashboard_applies(customer: PortalCustomer) -> None:
    change_meta(customer.service, customer.reseller.user_id, dashboard_graph=False)

    response = customer.service.http.get(f"/m/portal{DASHBOARD}", headers=customer.reseller.portal)

    assert read_problem(response, 403)["code"] == "flag_off"
