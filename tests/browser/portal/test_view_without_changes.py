"""A view of staff shows every page of the portal without anything that would change something."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.browser.console.conftest import Console, OpenConsole, open_console
from tests.browser.portal.conftest import OpenPortal, record_portal
from tests.browser.portal.portal_pages import PAGES
from tests.browser.portal.sample_customer import (
    CLERK,
    EMAIL,
    FIRST_ACCOUNT,
    MONTH,
    SampleCustomer,
    find_foreign,
    open_portal_api,
    send,
)
from tests.browser.portal.test_staff_view import open_view

__all__ = ["open_console"]  # fixture

CHANGING = re.compile("作成|追加|変更|編集|削除|保存|解除|の操作")
# The buttons that a customer has on the pages where something can be changed.
BUTTONS = {
    "accounts": {"フィルターとして保存", "さくら商事 本番の名称を変更"},
    "groups": {"フィルターとして保存"},
    "tags": {"フィルターとして保存"},
    "tag-pairs": {"フィルターとして保存"},
    "filters": {"半期を削除"},
    "budgets": {"予算を追加", "研究費を変更", "研究費を削除", "アラートを保存"},
    "account-groups": {"グループを作成", "研究所を変更", "研究所を削除"},
    "people": {"ユーザーを追加", f"{CLERK}の操作"},
    "roles": {"ロールを作成", "readerを変更", "readerを削除"},
    "api-clients": {"APIクライアントを作成", "集計を削除"},
}
# Headings of columns are buttons that sort.
READ_BUTTONS = """() =>
  [...document.querySelectorAll("main button, main [role=button]")]
    .filter((button) => button.checkVisibility() && !button.closest("th"))
    .map((button) => (button.ariaLabel || button.textContent).trim())"""
# What a person can fill in or switch to save it; searches and choices of a page are others.
FIELDS = "main textarea:enabled, main input[type=checkbox]:enabled"


@pytest.fixture
def records(customer: SampleCustomer) -> Iterator[None]:
    """One record on each page that lists records."""
    with open_portal_api(customer, EMAIL) as api:
        group = {"name": "研究所", "customer_ids": [FIRST_ACCOUNT]}
        group_id = send(api, "POST", "/portal/groups", group)["group_id"]
        content = {"path": "/accounts", "search": f"?month={MONTH}"}
        saved = send(api, "POST", "/portal/filters", {"name": "半期", "content": content})
        budget = {"name": "研究費", "target": "company", "amount": 90000, "thresholds": []}
        send(api, "PUT", "/portal/budgets", {"budgets": [budget]})
        client = send(api, "POST", f"/u/users/client/{EMAIL}", {"name": "集計"})
        yield
        for path in (
            f"/portal/groups/{group_id}",
            f"/portal/filters/{saved['filter_id']}",
            f"/u/users/client/{EMAIL}/{client['client_id']}",
        ):
            assert api.delete(path).is_success, path
        send(api, "PUT", "/portal/budgets", {"budgets": []})


def read_changing_buttons(window: Console) -> set[str]:
    names: list[str] = window.page.evaluate(READ_BUTTONS)
    return {name for name in names if CHANGING.search(name)}


@pytest.mark.usefixtures("records")
def test_only_the_customer_has_what_changes_something(
    open_console: OpenConsole, open_portal: OpenPortal, customer: SampleCustomer
) -> None:
    own = open_portal()
    own.open_complete("/dashboard")
    with record_portal(open_view(open_console(customer.reseller), customer)) as view:
        view.open_complete("/dashboard")
        for name, path in PAGES.items():
            if name == "security":
                continue  # about one's own login; a view does not show it
            if name in BUTTONS:
                own.visit_complete(path)
                assert BUTTONS[name] <= read_changing_buttons(own), name
            view.visit_complete(path)

            assert read_changing_buttons(view) == set(), name
            assert view.page.locator(FIELDS).count() == 0, name
            assert all(response.ok for response in view.responses), name
            assert find_foreign(view.read_everything()) == [], name
        view.check_no_errors()
