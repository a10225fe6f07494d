"""GET /m/portal/forecast"""

from __future__ import annotations

from decimal import Decimal

from nimbill.foundation.product import Product
from tests.customers.resellers.reseller_accounts import change_meta
from tests.portal.daily_costs import MONTH, SECOND, YEN_PER_DOLLAR
from tests.portal.portal_customer import PortalCustomer, filter_accounts
from tests.problem_responses import read_problem, read_violations

FORECAST = "/forecast"


def test_the_forecast_is_at_the_customers_price(daily_customer: PortalCustomer) -> None:
    body = daily_customer.get(FORECAST)

    assert (body["company_id"], body["month"]) == (daily_customer.company_id, MONTH)
    (forecast,) = body["forecasts"]
    assert forecast["currency"] == "jpy"
    assert forecast["complete_until"] == "2026-09-15"
    assert forecast["month_to_date"] == (15 * 15 + 30) * YEN_PER_DOLLAR
    # the peak was on a Thursday; 17 and 24 September cost a quarter of it more
    assert forecast["forecast"] == (30 * 15 + 30 + 2 * Decimal(30) / 4) * YEN_PER_DOLLAR
    assert forecast["error_percent"] == 0
    assert body["unpriced"] == []


def test_a_filter_on_accounts_restricts_the_forecast(daily_customer: PortalCustomer) -> None:
    headers = daily_customer.create_subuser(
        "forecaster", ["ReadAccount"], [filter_accounts(SECOND)]
    )

    (forecast,) = daily_customer.get(FORECAST, headers)["forecasts"]

    assert forecast["forecast"] == 30 * 5 * YEN_PER_DOLLAR


def test_a_user_of_the_organisation_has_to_choose_a_company(
    daily_customer: PortalCustomer,
) -> None:
    http = daily_customer.service.http
    root = daily_customer.service.root(product=Product.portal)

    refused = http.get(f"/m/portal{FORECAST}", headers=root)
    unknown = http.get(f"/m/portal{FORECAST}", params={"company_id": "com_x"}, headers=root)
    chosen = daily_customer.get(FORECAST, root, company_id=daily_customer.company_id)

    assert [name for name, _ in read_violations(refused)] == ["company_id"]
    assert unknown.status_code == 404
    assert chosen == daily_customer.get(FORECAST)


def test_a_customer_without_usage_has_no_forecast(customer: PortalCustomer) -> None:
    assert customer.get(FORECAST)["forecasts"] == []


def test_the_flag_of_the_dashboard_applies(customer: PortalCustomer) -> None:
    change_meta(customer.service, customer.reseller.user_id, dashboard_graph=False)

    response = customer.service.http.get(f"/m/portal{FORECAST}", headers=customer.reseller.portal)

    assert read_problem(response, 403)["code"] == "flag_off"
