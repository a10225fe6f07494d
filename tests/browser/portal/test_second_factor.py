"""Customers sign in to the portal with a second factor, and staff helps who lost one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import Console, OpenConsole, open_console
from tests.browser.console.sample_reseller import SampleReseller, create_billing_group
from tests.browser.portal.sample_customer import create_login
from tests.browser.second_factors import (
    add_passkey,
    enter_password,
    expect_factors,
    open_window,
    prove_with_app,
    prove_with_passkey,
    set_up_app,
    sign_out,
)
from tests.browser.windows import Windows
from tests.command_line import init_organisation
from tests.proof.real_server import PASSWORD, RealServer

__all__ = ["open_console"]  # fixture

CUSTOMER = "hikari@example.com"
PERSON = "clerk.two"


@pytest.fixture
def company(console_server: RealServer) -> SampleReseller:
    """An organisation with one customer, whose login no other test uses."""
    organisation = init_organisation(console_server.environment, "Hikari")
    empty = SampleReseller(console_server, organisation, {})
    with empty.api() as api:
        company_id = create_billing_group(api, "BG-0001")
        create_login(api, company_id, CUSTOMER, {"users_management": True})
    return SampleReseller(console_server, organisation, {"BG-0001": company_id})


@pytest.fixture
def window(windows: Windows, company: SampleReseller) -> Iterator[Console]:
    with open_window(windows, company.server.url, "/portal") as window:
        yield window


def test_a_customer_needs_its_registered_passkey(window: Console, company: SampleReseller) -> None:
    enter_password(window, company.organisation_id, CUSTOMER)
    expect_factors(window.page, 0)
    add_passkey(window, "ノートPC")
    sign_out(window.page, CUSTOMER)

    enter_password(window, company.organisation_id, CUSTOMER)

    prove_with_passkey(window)


def test_a_factor_that_the_settings_require_of_customers_is_set_up_with_an_app(
    window: Console, open_console: OpenConsole, company: SampleReseller
) -> None:
    settings = open_console(company)
    settings.open("/settings")
    settings.page.get_by_role("checkbox", name="顧客に二要素認証を必須にする").check()
    settings.page.get_by_role("button", name="保存", exact=True).click()
    expect(settings.page.get_by_text("設定を保存しました。")).to_be_visible()

    enter_password(window, company.organisation_id, CUSTOMER)
    app = set_up_app(window)
    sign_out(window.page, CUSTOMER)

    enter_password(window, company.organisation_id, CUSTOMER)
    prove_with_app(window, app)


def test_staff_ends_a_session_and_removes_the_factors_of_a_login(
    window: Console, open_console: OpenConsole, company: SampleReseller
) -> None:
    enter_password(window, company.organisation_id, CUSTOMER)
    add_passkey(window, "紛失した端末")
    console = open_console(company)
    console.open(f"/customers/{company.companies['BG-0001']}?tab=portal")
    page = console.page
    choose_action(page, "セッションを表示")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row").filter(has_text="Chrome")).to_have_count(1)
    console.check_accessibility()
    dialog.get_by_role("button", name="セッションを終了").click()
    expect(dialog.get_by_text("サインイン中のブラウザはありません。")).to_be_visible()
    dialog.get_by_role("button", name="閉じる").click()
    choose_action(page, "二要素認証を解除")
    dialog.get_by_role("button", name="二要素認証を解除").click()
    expect(dialog).to_have_count(0)

    window.page.reload()
    expect(window.page.get_by_role("button", name="サインイン")).to_be_visible()
    enter_password(window, company.organisation_id, CUSTOMER)

    expect_factors(window.page, 0)


def choose_action(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"{CUSTOMER}の操作").click()
    page.get_by_role("menuitem", name=name).click()


def test_a_customer_removes_the_factors_of_one_of_its_people(
    window: Console, windows: Windows, company: SampleReseller
) -> None:
    enter_password(window, company.organisation_id, CUSTOMER)
    page = window.page
    expect_factors(page, 0)
    page.goto(f"{window.address}/portal/people")
    page.get_by_role("button", name="ユーザーを追加").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="ユーザー名").fill(PERSON)
    dialog.get_by_label("パスワード", exact=True).fill(PASSWORD)
    dialog.get_by_role("button", name="追加する").click()
    dialog.filter(has_text="ロール").get_by_role("button", name="キャンセル").click()
    with open_window(windows, company.server.url, "/portal") as other:
        enter_password(other, company.organisation_id, PERSON)
        add_passkey(other, "社用携帯")
        sign_out(other.page, PERSON)

        page.get_by_role("button", name=f"{PERSON}の操作").click()
        page.get_by_role("menuitem", name="二要素認証を解除").click()
        dialog.get_by_role("button", name="二要素認証を解除").click()
        expect(dialog).to_have_count(0)

        enter_password(other, company.organisation_id, PERSON)
        expect_factors(other.page, 0)


def test_the_page_security_shows_the_current_address(
    window: Console, company: SampleReseller
) -> None:
    enter_password(window, company.organisation_id, CUSTOMER)

    expect(window.page.get_by_text("現在のメールアドレス")).to_be_visible()
    expect(window.page.get_by_role("definition").filter(has_text=CUSTOMER)).to_be_visible()
