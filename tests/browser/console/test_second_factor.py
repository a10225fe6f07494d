"""Signing in with a second factor: Chromium's virtual authenticator, and a code."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from nimbill.identity.second_factors import totp
from tests.browser.chromium import RecordedPage
from tests.browser.console.conftest import TIMEOUT_MILLISECONDS, Console
from tests.browser.console.sample_reseller import SampleReseller
from tests.proof.real_server import PASSWORD, RealServer

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}


@pytest.fixture
def company(console_server: RealServer) -> SampleReseller:
    """An organisation whose root user no other test signs in."""
    return SampleReseller(console_server, console_server.init("Hikari", PASSWORD), {})


@pytest.fixture
def window(console_browser: Browser, company: SampleReseller) -> Iterator[Console]:
    """Passkeys belong to host names, so the pages are opened at localhost."""
    context = console_browser.new_context(locale="ja", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MILLISECONDS)
    devices = context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    address = company.server.url.replace("127.0.0.1", "localhost")
    window = Console(RecordedPage(page), address, expected_refusals={401})
    yield window
    window.check_no_errors()
    context.close()


def enter_password(window: Console, company: SampleReseller) -> None:
    page = window.page
    page.goto(f"{window.address}/console/security")
    page.get_by_label("組織").fill(company.organisation_id)
    page.get_by_label("ユーザー名").fill("root")
    page.get_by_label("パスワード").fill(PASSWORD)
    page.keyboard.press("Enter")


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="root").click()
    page.get_by_role("menuitem", name="サインアウト").click()
    expect(page.get_by_role("button", name="サインイン")).to_be_visible()


def expect_factors(page: Page, count: int) -> None:
    expect(page.get_by_role("heading", name=f"二要素認証 ({count})")).to_be_visible()


def test_a_registered_passkey_is_needed_to_sign_in(
    window: Console, company: SampleReseller
) -> None:
    page = window.page
    enter_password(window, company)
    expect_factors(page, 0)
    page.get_by_role("button", name="パスキーを追加").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("現在のパスワード").fill(PASSWORD)
    dialog.get_by_role("button", name="続ける").click()
    dialog.get_by_label("名称").fill("ノートPC")
    window.check_accessibility()
    dialog.get_by_role("button", name="続ける").click()
    expect_factors(page, 1)
    expect(page.get_by_role("row").filter(has_text="ノートPC")).to_be_visible()
    sign_out(page)

    enter_password(window, company)
    window.check_accessibility()
    page.get_by_role("button", name="パスキーで続ける").click()

    expect_factors(page, 1)


def test_a_required_factor_is_set_up_with_an_app_and_then_needed(
    window: Console, company: SampleReseller
) -> None:
    page = window.page
    with company.api() as api:
        assert api.put("/core/settings", json={"staff_needs_second_factor": True}).is_success
    enter_password(window, company)
    page.get_by_role("button", name="認証アプリを使う").click()
    text = page.get_by_text(r"otpauth://").inner_text()
    key = text.partition("secret=")[2].partition("&")[0]
    secret = base64.b32decode(key + "=" * (-len(key) % 8))
    step = int(time.time()) // totp.STEP_SECONDS
    page.get_by_label("コード").fill(totp.compute_code(secret, step))
    window.check_accessibility()
    page.get_by_role("button", name="登録してサインイン").click()
    expect_factors(page, 1)
    sign_out(page)

    enter_password(window, company)
    page.get_by_label("コード").fill(totp.compute_code(secret, step + 1))
    page.get_by_role("button", name="コードで続ける").click()

    expect_factors(page, 1)
