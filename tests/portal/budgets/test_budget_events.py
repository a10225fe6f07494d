"""A threshold of a budget that was passed is announced by webhooks."""

from __future__ import annotations

from tests.portal.budgets.budget_requests import COMPANY_BUDGET, store_alerts, store_budgets
from tests.portal.budgets.evaluated_budgets import evaluate
from tests.portal.daily_costs import MONTH
from tests.portal.portal_customer import PortalCustomer
from tests.webhooks.published_events import list_published, subscribe

PASSED = {"percent": 57, "of": "actual"}


def test_an_alert_is_announced_once(daily_customer: PortalCustomer) -> None:
    subscribe(daily_customer.service)
    (budget,) = store_budgets(daily_customer, COMPANY_BUDGET | {"thresholds": [PASSED]})
    store_alerts(daily_customer, "a@example.com", "b@example.com")

    evaluate(daily_customer)
    evaluate(daily_customer)

    assert list_published(daily_customer.service) == [
        (
            "budget.alert",
            {
                "budget_id": budget["budget_id"],
                "company_id": daily_customer.company_id,
                "month": MONTH,
                **PASSED,
            },
        )
    ]
