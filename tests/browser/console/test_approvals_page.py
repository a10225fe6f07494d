"""Approvals: a clerk requests the closing of a month, and a second person approves it."""

from __future__ import annotations

from typing import Any

import httpx
from playwright.sync_api import expect

from tests.browser.console.conftest import OpenConsole
from tests.browser.console.sample_reseller import create_reseller
from tests.proof.real_server import RealServer

MONTH = "2025-03"
PASSWORD = "himitsu-1234"


def add_person(api: httpx.Client, username: str, *permissions: str) -> None:
    role: dict[str, Any] = {
        "name": f"role-{username}",
        "namespace": "core",
        "permissions": permissions,
    }
    person = {"username": username, "password": PASSWORD, "notification": {"email": "false"}}
    assert api.post("/auth/rbac/roles", json=role).is_success
    created = api.post("/u/users", json=person)
    mapping = {
        "user_id": created.json()["user_id"],
        "roles": [{"namespace": "core", "role": role["name"]}],
        "filters": [],
    }
    assigned = api.post("/auth/rbac/userroles", json=mapping)
    assert assigned.is_success, assigned.text


def test_a_clerk_requests_closing_and_a_second_person_approves(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    reseller = create_reseller(console_server, "Four eyes")
    with reseller.api() as api:
        add_person(api, "tanaka", "ModifyInvoice", "ApproveRequests")
        add_person(api, "suzuki", "ReadInvoice", "ApproveRequests")
        required = {"approval_required": ["month_close", "settings"]}
        assert api.put("/core/settings", json=required).is_success

    clerk = open_console(reseller, username="tanaka", password=PASSWORD)
    clerk.expected_refusals.add(409)
    page = clerk.page
    clerk.open(f"/months/{MONTH}/aws")
    page.get_by_role("button", name="月を締める").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("checkbox").check()
    dialog.get_by_role("textbox", name="理由").fill("利用なし")
    dialog.get_by_label(f"確認のため {MONTH} と入力してください").fill(MONTH)
    dialog.get_by_role("button", name="月を締める").click()
    expect(dialog.get_by_text("別の担当者の承認が必要です")).to_be_visible()
    clerk.check_accessibility()
    dialog.get_by_role("textbox", name="承認者へのコメント").fill("3月分です")
    dialog.get_by_role("button", name="承認を依頼").click()
    page.get_by_role("link", name="承認依頼を見る").click()

    expect(page.get_by_text("承認待ち")).to_be_visible()
    expect(page.get_by_role("button", name="取り下げる")).to_be_visible()
    expect(page.get_by_role("button", name="承認する")).to_have_count(0)
    expect(page.get_by_role("button", name="却下する")).to_have_count(0)

    approver = open_console(reseller, username="suzuki", password=PASSWORD)
    seen = approver.page
    approver.open("/approvals")
    expect(seen.get_by_role("row").filter(has_text="3月分です")).to_contain_text("tanaka")
    approver.check_in_both_languages()
    approver.switch_language()
    seen.get_by_role("link", name="月の締め").click()
    expect(seen.get_by_text("利用なし")).to_be_visible()
    approver.check_accessibility()
    seen.get_by_role("button", name="承認する").click()
    seen.get_by_role("dialog").get_by_role("button", name="承認する").click()
    expect(seen.get_by_text("承認・実行済み", exact=True)).to_be_visible()

    clerk.open(f"/months/{MONTH}/aws")
    expect(page.get_by_role("heading", level=1)).to_contain_text("締め済み")


def test_a_change_of_the_settings_is_requested(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    reseller = create_reseller(console_server, "Settings for two")
    with reseller.api() as api:
        add_person(api, "tanaka", "ApproveRequests")
        assert api.put("/core/settings", json={"approval_required": ["settings"]}).is_success
    console = open_console(reseller)
    console.expected_refusals.add(409)
    page = console.page
    console.open("/settings")
    page.get_by_role("checkbox", name="為替レート").check()
    page.get_by_role("button", name="保存", exact=True).click()
    page.get_by_role("button", name="承認を依頼").click()
    page.get_by_role("link", name="承認依頼を見る").click()

    changed = page.get_by_role("row").filter(has_text="承認が必要な操作")
    expect(changed).to_contain_text("為替レート")
    expect(page.get_by_role("button", name="承認する")).to_have_count(0)
