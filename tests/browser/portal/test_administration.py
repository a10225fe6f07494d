"""What a customer's administrator changes in the portal: people, roles, API clients, names."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.portal.conftest import OpenPortal, Portal
from tests.browser.portal.sample_customer import (
    FIRST_ACCOUNT,
    MONTH,
    SECOND_ACCOUNT,
    SampleCustomer,
)
from tests.proof.real_server import PASSWORD

PERSON = "new.reader"
ROLE = "usage-reader"


@pytest.fixture
def portal(open_portal: OpenPortal) -> Portal:
    return open_portal()


def find_row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def confirm_deletion(page: Page, word: str) -> None:
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox").fill(word)
    dialog.get_by_role("button", name="削除", exact=True).click()
    expect(dialog).to_have_count(0)


def create_role(portal: Portal) -> None:
    portal.open("/roles")
    page = portal.page
    page.get_by_role("button", name="ロールを作成").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="ロール名").fill(ROLE)
    dialog.get_by_role("checkbox", name="アカウント別の利用料").check()
    dialog.get_by_role("button", name="保存", exact=True).click()
    expect(find_row(page, ROLE)).to_contain_text("アカウント別の利用料")


def add_person(portal: Portal) -> None:
    """Add a person who sees the second account only."""
    portal.open("/people")
    page = portal.page
    page.get_by_role("button", name="ユーザーを追加").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="ユーザー名").fill(PERSON)
    dialog.get_by_label("パスワード", exact=True).fill(PASSWORD)
    dialog.get_by_role("button", name="追加する").click()
    choose(page, dialog, "ロール", ROLE)
    choose(page, dialog, "このアカウントのみ", SECOND_ACCOUNT)
    dialog.get_by_role("button", name="保存", exact=True).click()
    expect(find_row(page, PERSON)).to_contain_text(f"{ROLE}（一部の費用のみ閲覧）")


def choose(page: Page, dialog: Locator, label: str, option: str) -> None:
    dialog.get_by_role("button", name=label).click()
    page.get_by_role("option").filter(has_text=option).click()
    page.keyboard.press("Escape")


def test_a_new_person_with_a_new_role_sees_what_it_was_given(open_portal: OpenPortal) -> None:
    portal = open_portal()
    create_role(portal)
    add_person(portal)

    visitor = open_portal(PERSON)
    visitor.open(f"/accounts?month={MONTH}")
    expect(find_row(visitor.page, SECOND_ACCOUNT).first).to_be_visible()
    assert FIRST_ACCOUNT not in visitor.read_everything()
    visitor.open("/budgets")
    expect(visitor.page.get_by_text("このページは利用できません。")).to_be_visible()

    portal.page.get_by_role("button", name=f"{PERSON}の操作").click()
    portal.page.get_by_role("menuitem", name="削除").click()
    confirm_deletion(portal.page, PERSON)
    expect(find_row(portal.page, PERSON)).to_have_count(0)
    portal.open("/roles")
    portal.page.get_by_role("button", name=f"{ROLE}を削除").click()
    confirm_deletion(portal.page, ROLE)
    expect(find_row(portal.page, ROLE)).to_have_count(0)


def test_an_api_client_of_the_portal_works_until_it_is_deleted(
    portal: Portal, customer: SampleCustomer
) -> None:
    portal.open("/api-clients")
    page = portal.page
    page.get_by_role("button", name="APIクライアントを作成").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="名称").fill("cost report")
    dialog.get_by_role("button", name="作成", exact=True).click()
    secret = dialog.locator("dd").nth(1)
    expect(secret).to_be_visible()
    client_id, client_secret = (text.split()[0] for text in dialog.locator("dd").all_inner_texts())
    dialog.get_by_role("button", name="保管しました").click()

    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": client_secret,
    }
    token = httpx.post(f"{customer.url}/access_token", data=form)
    assert token.status_code == 200, token.text
    headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
    me = httpx.get(f"{customer.url}/m/portal/me", headers=headers)
    assert me.status_code == 200
    assert client_secret not in page.content()

    page.get_by_role("button", name="cost reportを削除").click()
    confirm_deletion(page, "cost report")
    assert httpx.post(f"{customer.url}/access_token", data=form).status_code == 401


def test_an_account_gets_another_name(portal: Portal) -> None:
    portal.open(f"/accounts?month={MONTH}")
    page, dialog = portal.page, portal.page.get_by_role("dialog")

    for former, name in (
        ("さくら商事 開発", "さくら商事 検証"),
        ("さくら商事 検証", "さくら商事 開発"),
    ):
        page.get_by_role("button", name=f"{former}の名称を変更").first.click()
        dialog.get_by_role("textbox", name="名称").fill(name)
        dialog.get_by_role("button", name="保存", exact=True).click()
        expect(find_row(page, name).first).to_be_visible()


def test_alerts_are_saved_and_a_wrong_address_is_refused(portal: Portal) -> None:
    portal.expected_refusals.add(400)
    portal.open("/budgets")
    page = portal.page
    page.get_by_role("checkbox", name="しきい値に達したらメールを送る").check()
    page.get_by_role("textbox", name="宛先").fill("nobody")
    page.get_by_role("button", name="アラートを保存").click()
    expect(page.get_by_text("メールアドレスの形式が正しくありません。")).to_be_visible()

    page.get_by_role("textbox", name="宛先").fill("kaikei@example.com")
    page.get_by_role("button", name="アラートを保存").click()
    expect(page.get_by_text("予算アラートを保存しました。")).to_be_visible()

    portal.open("/budgets")
    expect(page.get_by_role("textbox", name="宛先")).to_have_value("kaikei@example.com")
