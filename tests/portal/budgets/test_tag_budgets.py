"""Budgets for usage with a tag: compared at the customer's price, and mailed once."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.portal.budgets.budget_requests import store_alerts, store_budgets
from tests.portal.budgets.evaluated_budgets import evaluate
from tests.portal.daily_costs import fix_today
from tests.portal.portal_customer import PortalCustomer
from tests.portal.tags.tagged_customer import LINES, RATE, STRANGER, create_tagged_customer, get_tag
from tests.quick_hashes import quick_hashes
from tests.running_service import Service

# of Team=red: 190.0001 dollars, less the discount of 5 %, at 150.25 yen
ACTUAL = Decimal("27120.139273750")
AMOUNT = 50_000
REACHED, NOT_REACHED = {"percent": 54, "of": "actual"}, {"percent": 55, "of": "actual"}


@pytest.fixture(scope="module")
def tagged_customer(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PortalCustomer]:
    running.organisation = running.new_organisation()
    with quick_hashes(), fix_today():
        yield create_tagged_customer(running, tmp_path_factory.mktemp("tagged"))


def build_budget(target_id: str, **fields: Any) -> dict[str, Any]:
    budget = {"name": target_id, "target": "tag", "target_id": target_id, "amount": AMOUNT}
    return budget | {"thresholds": [REACHED, NOT_REACHED]} | fields


def test_the_amount_is_the_usage_with_the_tag_at_the_customers_price(
    tagged_customer: PortalCustomer,
) -> None:
    store_budgets(tagged_customer, build_budget("Team=red"), build_budget("Team=none"))

    red, none = tagged_customer.get("/budgets")["budgets"]

    of_team = [line for line in LINES if get_tag(line, "Team") == "red"]
    costs = [
        line["cost"]
        for line in of_team
        if line["kind"] == "usage" and line["customer_id"] != STRANGER
    ]
    assert red["actual"] == sum(costs) * RATE == ACTUAL
    assert red["percent"] == Decimal("54.2")
    assert red["forecast"] > red["actual"]
    assert (none["actual"], none["percent"], none["forecast"]) == (0, 0, None)


def test_a_threshold_that_is_reached_is_mailed_once(tagged_customer: PortalCustomer) -> None:
    store_budgets(tagged_customer, build_budget("Team=red"), build_budget("Team=blue"))
    store_alerts(tagged_customer, "a@example.com")

    (mail,), again = evaluate(tagged_customer), evaluate(tagged_customer)

    assert mail.subject == "Budget alert: Team=red (54%)"
    assert "Budget: ¥50,000\nAmount: ¥27,120\n" in mail.text
    assert again == []
