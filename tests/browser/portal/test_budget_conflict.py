"""Two people who change the budgets of a company at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.portal.conftest import OpenPortal, Portal
from tests.browser.portal.sample_customer import EMAIL, SampleCustomer, open_portal_api, send

BUDGETS = "/portal/budgets"
BUDGET = {"name": "全社", "target": "company", "amount": 120000, "thresholds": []}


@pytest.fixture
def colleague(customer: SampleCustomer) -> Iterator[httpx.Client]:
    """Somebody else of the company; the budget is deleted at the end."""
    with open_portal_api(customer, EMAIL) as api:
        send(api, "PUT", BUDGETS, {"budgets": [BUDGET]})
        yield api
        send(api, "PUT", BUDGETS, {"budgets": []})


def read_budgets(api: httpx.Client) -> list[dict[str, Any]]:
    budgets: list[dict[str, Any]] = api.get(BUDGETS).json()["budgets"]
    return [{name: each[name] for name in ("budget_id", *BUDGET)} for each in budgets]


def begin_change(portal: Portal) -> Locator:
    """Open the dialog of the budget and type another amount."""
    portal.open("/budgets")
    portal.page.get_by_role("button", name="全社を変更").click()
    dialog = portal.page.get_by_role("dialog").filter(has_text="全社を変更")
    dialog.get_by_role("textbox", name="月額").fill("150000")
    return dialog


def test_a_budget_that_somebody_else_changed_shows_both_versions(
    open_portal: OpenPortal, colleague: httpx.Client
) -> None:
    portal = open_portal()
    portal.expected_refusals.add(412)
    dialog = begin_change(portal)
    (stored,) = read_budgets(colleague)
    send(colleague, "PUT", BUDGETS, {"budgets": [{**stored, "amount": 130000}]})

    dialog.get_by_role("button", name="保存", exact=True).click()

    conflict = portal.page.get_by_role("dialog").filter(has_text="他の人が変更しました")
    row = conflict.get_by_role("row").filter(has_text="月額")
    expect(row).to_contain_text("150000")
    expect(row).to_contain_text("130000")
    portal.check_accessibility()
    conflict.get_by_role("button", name="自分の内容で保存").click()
    expect(portal.page.get_by_text("予算を保存しました。")).to_be_visible()
    assert [each["amount"] for each in read_budgets(colleague)] == [150000]


def test_a_budget_that_somebody_else_added_meanwhile_stays(
    open_portal: OpenPortal, colleague: httpx.Client
) -> None:
    portal = open_portal()
    portal.expected_refusals.add(412)
    dialog = begin_change(portal)
    added = {**BUDGET, "name": "研究費"}
    send(colleague, "PUT", BUDGETS, {"budgets": [*read_budgets(colleague), added]})

    dialog.get_by_role("button", name="保存", exact=True).click()

    expect(portal.page.get_by_text("予算を保存しました。")).to_be_visible()
    budgets = {each["name"]: each["amount"] for each in read_budgets(colleague)}
    assert budgets == {"全社": 150000, "研究費": 120000}
