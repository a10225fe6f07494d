"""GET and PUT /m/portal/budgets and /budgets/alerts"""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest

from nimbill.foundation.product import Product
from nimbill.portal.budgets import states
from nimbill.portal.forecast.daily_usage import load_daily_usage
from nimbill.portal.view import PortalView
from tests.customers.resellers.reseller_accounts import change_meta
from tests.portal.budgets.budget_requests import (
    ALERTS,
    BUDGETS,
    COMPANY_BUDGET,
    put,
    store_alerts,
    store_budgets,
)
from tests.portal.budgets.stored_groups import add_group
from tests.portal.daily_costs import FIRST, MONTH, SECOND, YEN_PER_DOLLAR
from tests.portal.portal_customer import PORTAL, PortalCustomer, filter_accounts
from tests.problem_responses import read_problem, read_violations

ACCOUNT_BUDGET = COMPANY_BUDGET | {"name": "database", "target": "account", "target_id": SECOND}


def test_a_budget_shows_what_was_used_and_the_forecast(daily_customer: PortalCustomer) -> None:
    company, account = store_budgets(daily_customer, COMPANY_BUDGET, ACCOUNT_BUDGET)

    body = daily_customer.get(BUDGETS)

    assert (body["company_id"], body["month"]) == (daily_customer.company_id, MONTH)
    actual = (15 * 15 + 30) * YEN_PER_DOLLAR
    forecast = (30 * 15 + 45) * YEN_PER_DOLLAR
    assert body["budgets"][0] == company | {
        "actual": actual,
        "percent": Decimal("57.3"),  # 28687.5 of 50000 is 57.375 %
        "forecast": forecast,
        "forecast_percent": Decimal("111.3"),
    }
    assert body["budgets"][1] == account | {
        "actual": 75 * YEN_PER_DOLLAR,
        "percent": Decimal("16.8"),
        "forecast": 150 * YEN_PER_DOLLAR,
        "forecast_percent": Decimal("33.7"),
    }
    assert company["currency"] == "jpy"


def test_a_group_budget_counts_its_accounts(daily_customer: PortalCustomer) -> None:
    group_id = add_group(daily_customer, [FIRST])
    group_budget = COMPANY_BUDGET | {"target": "group", "target_id": group_id}
    store_budgets(daily_customer, group_budget)

    (state,) = daily_customer.get(BUDGETS)["budgets"]

    assert state["actual"] == (15 * 10 + 30) * YEN_PER_DOLLAR


def test_a_tag_budget_loads_usage_with_the_tag(daily_customer: PortalCustomer) -> None:
    loaded: list[Any] = []

    async def load(db: Any, view: PortalView, months: Any, **options: Any) -> Any:
        loaded.append(dict(view.tags))
        return await load_daily_usage(db, view, months, **options)

    store_budgets(daily_customer, COMPANY_BUDGET | {"target": "tag", "target_id": "Team=a=b"})
    with patch.object(states, "load_daily_usage", load):
        daily_customer.get(BUDGETS)

    assert loaded == [{}, {"Team": frozenset({"a=b"})}]


def test_put_replaces_the_list_and_keeps_the_ids_that_are_sent(customer: PortalCustomer) -> None:
    first, second = store_budgets(customer, COMPANY_BUDGET, ACCOUNT_BUDGET)

    changed = store_budgets(customer, second | {"amount": 7}, COMPANY_BUDGET)

    assert changed[0] == second | {"amount": 7}
    assert changed[1]["budget_id"] not in (first["budget_id"], second["budget_id"])
    shown = customer.get(BUDGETS)["budgets"]
    assert [budget["budget_id"] for budget in shown] == [each["budget_id"] for each in changed]
    assert store_budgets(customer) == customer.get(BUDGETS)["budgets"] == []


def test_the_response_of_get_can_be_sent_back(customer: PortalCustomer) -> None:
    store_budgets(customer, COMPANY_BUDGET)
    shown = customer.service.http.get(PORTAL + BUDGETS, headers=customer.reseller.portal).json()

    response = put(customer, BUDGETS, shown)

    assert response.status_code == 200, response.text
    assert customer.get(BUDGETS) == shown


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"budget_id": "bud_unknown"}, "budget_id"),
        ({"target": "account", "target_id": "999999999999"}, "target_id"),
        ({"target": "group", "target_id": "grp_unknown"}, "target_id"),
        ({"currency": "usd"}, "currency"),
        ({"amount": 1.5}, "amount"),
        ({"amount": 0}, "amount"),
        ({"name": ""}, "name"),
        ({"target": "planet"}, "target"),
        ({"thresholds": [{"percent": 0, "of": "actual"}]}, "thresholds[0].percent"),
    ],
)
def test_a_refused_list_changes_nothing(
    daily_customer: PortalCustomer, changes: dict[str, Any], field: str
) -> None:
    stored = store_budgets(daily_customer, COMPANY_BUDGET)

    response = put(daily_customer, BUDGETS, {"budgets": [ACCOUNT_BUDGET, COMPANY_BUDGET | changes]})

    assert [name for name, _ in read_violations(response)] == [f"budgets[1].{field}"]
    kept = daily_customer.get(BUDGETS)["budgets"]
    assert [budget["budget_id"] for budget in kept] == [stored[0]["budget_id"]]


def test_a_filtered_user_sees_the_budgets_of_its_accounts_and_changes_nothing(
    daily_customer: PortalCustomer,
) -> None:
    permissions = ["ReadBudget", "ModifyBudget"]
    headers = daily_customer.create_subuser("budgeter", permissions, [filter_accounts(SECOND)])
    other = ACCOUNT_BUDGET | {"target_id": FIRST}
    store_budgets(daily_customer, COMPANY_BUDGET, ACCOUNT_BUDGET, other)

    shown = daily_customer.get(BUDGETS, headers)["budgets"]
    refused = [
        put(daily_customer, BUDGETS, {"budgets": []}, headers),
        put(daily_customer, ALERTS, {"enabled": False, "recipients": []}, headers),
        daily_customer.service.http.get(PORTAL + ALERTS, headers=headers),
    ]

    assert [budget["target_id"] for budget in shown] == [SECOND]
    assert shown[0]["actual"] == 75 * YEN_PER_DOLLAR
    assert {read_problem(response, 403)["code"] for response in refused} == {"narrowed_caller"}


def test_a_user_with_a_filter_on_tags_sees_no_budgets(daily_customer: PortalCustomer) -> None:
    tags = {"namespace": "portal", "type": "tags", "resource": ["Team=web"]}
    headers = daily_customer.create_subuser("tagclerk", ["ReadBudget"], [tags])
    store_budgets(daily_customer, COMPANY_BUDGET, ACCOUNT_BUDGET)

    assert daily_customer.get(BUDGETS, headers)["budgets"] == []


def test_alerts_are_off_until_they_are_set(customer: PortalCustomer) -> None:
    company = {"company_id": customer.company_id}
    assert customer.get(ALERTS) == company | {"enabled": False, "recipients": [], "language": None}

    store_alerts(customer, "a@example.com", "b@example.com", language="ja")
    store_budgets(customer, COMPANY_BUDGET)

    expected = {"enabled": True, "recipients": ["a@example.com", "b@example.com"]}
    assert customer.get(ALERTS) == company | expected | {"language": "ja"}


def test_refused_alerts_name_their_field_and_change_nothing(customer: PortalCustomer) -> None:
    store_alerts(customer, "a@example.com")
    before = customer.get(ALERTS)

    response = put(customer, ALERTS, {"enabled": True, "recipients": ["a@example.com", "b"]})

    assert [name for name, _ in read_violations(response)] == ["recipients[1]"]
    assert customer.get(ALERTS) == before


def test_each_route_has_its_flag(customer: PortalCustomer) -> None:
    store_budgets(customer, COMPANY_BUDGET)
    flags = ("usage_account_menu_budget", "usage_account_menu_budget_edit", "budgetalerts")
    change_meta(customer.service, customer.reseller.user_id, **dict.fromkeys(flags, False))
    http, headers = customer.service.http, customer.reseller.portal

    problems = [
        read_problem(http.get(PORTAL + BUDGETS, headers=headers), 403),
        read_problem(put(customer, BUDGETS, {"budgets": []}), 403),
        read_problem(http.get(PORTAL + ALERTS, headers=headers), 403),
        read_problem(put(customer, ALERTS, {"enabled": False, "recipients": []}), 403),
    ]

    named = [problem["detail"].split()[-3] for problem in problems]
    assert named == [flags[0], flags[1], flags[2], flags[2]]


def test_a_user_of_the_organisation_names_the_company(customer: PortalCustomer) -> None:
    root = customer.service.root(product=Product.portal)
    body = {"budgets": [COMPANY_BUDGET]}

    refused = put(customer, BUDGETS, body, root)
    stored = put(customer, f"{BUDGETS}?company_id={customer.company_id}", body, root)

    assert [name for name, _ in read_violations(refused)] == ["company_id"]
    assert stored.status_code == 200, stored.text
    assert len(customer.get(BUDGETS)["budgets"]) == 1


def test_of_two_editors_the_second_is_refused(customer: PortalCustomer) -> None:
    http, headers = customer.service.http, customer.reseller.portal
    version = http.get(PORTAL + BUDGETS, headers=headers).headers["etag"]
    named = headers | {"If-Match": version}
    other = COMPANY_BUDGET | {"amount": 70_000}

    first = put(customer, BUDGETS, {"budgets": [COMPANY_BUDGET]}, named)
    second = put(customer, BUDGETS, {"budgets": [other]}, named)

    assert first.status_code == 200, first.text
    problem = read_problem(second, 412)
    assert problem["code"] == "version_conflict"
    assert problem["etag"] == first.headers["etag"] != version
    assert problem["changed_by"] == customer.reseller.email
    (stored,) = customer.get(BUDGETS)["budgets"]
    assert stored["amount"] == COMPANY_BUDGET["amount"]
    assert put(customer, BUDGETS, {"budgets": [other]}, headers).status_code == 200


def test_the_version_is_that_of_the_company_that_staff_names(customer: PortalCustomer) -> None:
    root = customer.service.root(product=Product.portal)
    path = f"{BUDGETS}?company_id={customer.company_id}"
    store_budgets(customer, COMPANY_BUDGET)
    http = customer.service.http
    own = http.get(PORTAL + BUDGETS, headers=customer.reseller.portal).headers["etag"]

    refused = put(customer, path, {"budgets": []}, root | {"If-Match": '"another"'})
    stored = put(customer, path, {"budgets": []}, root | {"If-Match": own})

    assert read_problem(refused, 412)["etag"] == own
    assert stored.status_code == 200, stored.text


def test_a_user_with_a_filter_gets_no_version(daily_customer: PortalCustomer) -> None:
    headers = daily_customer.create_subuser("noversion", ["ReadBudget"], [filter_accounts(SECOND)])

    response = daily_customer.service.http.get(PORTAL + BUDGETS, headers=headers)

    assert response.status_code == 200
    assert "etag" not in response.headers
