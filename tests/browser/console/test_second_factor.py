"""Signing in with a second factor: Chromium's virtual authenticator, and a code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import SampleReseller
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

ROOT = "root"


@pytest.fixture
def company(console_server: RealServer) -> SampleReseller:
    """An organisation whose root user no other test signs in."""
    return SampleReseller(
        console_server, init_organisation(console_server.environment, "Hikari"), {}
    )


@pytest.fixture
def window(windows: Windows, company: SampleReseller) -> Iterator[Console]:
    with open_window(windows, company.server.url, "/console") as window:
        yield window


def add_person(company: SampleReseller, username: str) -> None:
    person = {"username": username, "password": PASSWORD, "notification": {"email": "false"}}
    with company.api() as api:
        assert api.post("/u/users", json=person).is_success


def test_a_registered_passkey_is_needed_to_sign_in(
    window: Console, company: SampleReseller
) -> None:
    enter_password(window, company.organisation_id, ROOT)
    expect_factors(window.page, 0)
    add_passkey(window, "ノートPC")
    sign_out(window.page, ROOT)

    enter_password(window, company.organisation_id, ROOT)
    expect(window.page.get_by_role("button", name="パスキーで続ける")).to_be_visible()
    window.check_accessibility()

    prove_with_passkey(window)


def test_a_factor_that_the_settings_require_is_set_up_at_the_next_sign_in(
    window: Console, open_console: OpenConsole, company: SampleReseller
) -> None:
    settings = open_console(company)
    settings.open("/settings")
    switch = settings.page.get_by_role("checkbox", name="社内の利用者に二要素認証を必須にする")
    switch.check()
    settings.page.get_by_role("button", name="保存", exact=True).click()
    expect(settings.page.get_by_text("設定を保存しました。")).to_be_visible()

    enter_password(window, company.organisation_id, ROOT)
    app = set_up_app(window)
    settings.open("/settings")
    expect(switch).to_be_checked()  # the session from before continues
    sign_out(window.page, ROOT)

    enter_password(window, company.organisation_id, ROOT)
    prove_with_app(window, app)


def test_an_administrator_removes_the_factors_of_a_person(
    window: Console, open_console: OpenConsole, company: SampleReseller
) -> None:
    add_person(company, "suzuki")
    enter_password(window, company.organisation_id, "suzuki")
    add_passkey(window, "スマートフォン")
    sign_out(window.page, "suzuki")
    console = open_console(company)
    console.open("/people/suzuki")
    page = console.page
    expect_factors(page, 1)
    page.get_by_role("button", name="二要素認証を解除").click()
    dialog = page.get_by_role("dialog")
    console.check_accessibility()
    dialog.get_by_role("button", name="二要素認証を解除").click()
    expect_factors(page, 0)

    enter_password(window, company.organisation_id, "suzuki")

    expect_factors(window.page, 0)
    console.open("/audit")
    expect(page.get_by_role("row").filter(has_text="二要素認証の解除").first).to_be_visible()
