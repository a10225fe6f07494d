"""A forgotten password, the page "Security" and the end of a session in another browser."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx
from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import SampleReseller
from tests.browser.windows import Windows, WindowType
from tests.mail.outbox_messages import find_link, read_outbox
from tests.proof.real_server import PASSWORD

NEW_PASSWORD = "a better one, 9"
REFUSED = ("400 (Bad Request)", "401 (Unauthorized)")


def add_person(reseller: SampleReseller, username: str, email: str) -> None:
    body = {
        "username": username,
        "password": PASSWORD,
        "email": email,
        "notification": {"email": "false"},
    }
    with reseller.api() as api:
        response = api.post("/u/users", json=body)
    assert response.is_success, response.text


def test_a_forgotten_password_is_replaced_through_the_mailed_link(
    windows: Windows, reseller: SampleReseller
) -> None:
    add_person(reseller, "wasure.m", "wasure@example.com")
    with windows.open(WindowType("ja")) as recorded:
        page, console = recorded.page, Console(recorded, reseller.server.url)
        page.goto(f"{reseller.server.url}/console")
        page.get_by_role("button", name="パスワードをお忘れですか？").click()
        page.get_by_label("組織").fill(reseller.organisation_id)
        page.get_by_label("ユーザー名またはメールアドレス").fill("wasure@example.com")
        console.check_accessibility()
        page.get_by_role("button", name="リンクを送信").click()
        expect(page.get_by_text("メールをご確認ください。")).to_be_visible()
        console.check_accessibility()

        (message,) = read_outbox(
            reseller.server.data, reseller.organisation_id, to="wasure@example.com"
        )
        parts = urlsplit(find_link(message))
        link = f"{reseller.server.url}{parts.path}#{parts.fragment}"
        page.goto("about:blank")
        page.goto(link)
        page.get_by_label("新しいパスワード", exact=True).fill(NEW_PASSWORD)
        page.get_by_label("新しいパスワード（確認）").fill("another one 1")
        expect(page.get_by_text("パスワードが一致しません。")).to_be_visible()
        assert page.url == f"{reseller.server.url}/console"
        console.check_accessibility()
        page.get_by_label("新しいパスワード（確認）").fill(NEW_PASSWORD)
        page.get_by_role("button", name="パスワードを設定").click()
        expect(page.get_by_text("新しいパスワードを設定しました。")).to_be_visible()
        page.get_by_label("ユーザー名").fill("wasure.m")
        page.get_by_label("パスワード").fill(NEW_PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="wasure.m")).to_be_visible()

        page.goto("about:blank")
        page.goto(link)
        page.get_by_label("新しいパスワード", exact=True).fill("yet another 7")
        page.get_by_label("新しいパスワード（確認）").fill("yet another 7")
        page.get_by_role("button", name="パスワードを設定").click()
        expect(page.get_by_text("このリンクは使用できません。")).to_be_visible()
        console.check_accessibility()
        assert [error for error in recorded.errors if not any(r in error for r in REFUSED)] == []
        assert recorded.violations() == []


def test_a_session_is_ended_from_another_browser(
    open_console: OpenConsole, reseller: SampleReseller
) -> None:
    add_person(reseller, "futari.m", "futari@example.com")
    lost = open_console(reseller, username="futari.m")
    lost.expected_refusals.add(401)
    lost.open("/security")
    own = open_console(reseller, username="futari.m")
    own.open("/security")
    own.check_accessibility()

    own.page.get_by_role("button", name="セッションを終了").click()
    dialog = own.page.get_by_role("dialog")
    dialog.get_by_role("button", name="セッションを終了").click()
    expect(own.page.get_by_text("セッションを終了しました。")).to_be_visible()
    expect(own.page.get_by_role("button", name="セッションを終了")).to_have_count(0)
    lost.page.reload()

    expect(lost.page.get_by_role("button", name="サインイン")).to_be_visible()
    own.page.reload()
    expect(own.page.get_by_text("このブラウザ", exact=True)).to_be_visible()


def test_a_person_changes_address_and_password(
    open_console: OpenConsole, reseller: SampleReseller
) -> None:
    add_person(reseller, "kaeru.m", "kaeru@example.com")
    console = open_console(reseller, username="kaeru.m", language="en")
    console.expected_refusals.update((400, 401))
    console.open("/")
    page = console.page
    page.get_by_role("button", name="kaeru.m").click()
    page.get_by_role("menuitem", name="Security").click()
    address = page.locator("form").filter(has_text="New e-mail address")
    address.get_by_label("New e-mail address").fill("new@example.com")
    address.get_by_label("Current password").fill("wrong 123")
    address.get_by_role("button", name="Change the address").click()
    expect(page.get_by_text("This is not your current password.")).to_be_visible()
    address.get_by_label("Current password").fill(PASSWORD)
    address.get_by_role("button", name="Change the address").click()
    expect(page.get_by_text("Your e-mail address is changed.")).to_be_visible()

    password = page.locator("form").filter(has_text="Repeat the new password")
    password.get_by_label("Current password").fill(PASSWORD)
    password.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    password.get_by_label("Repeat the new password").fill(NEW_PASSWORD)
    password.get_by_role("button", name="Change the password").click()

    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    body = {
        "organisation": reseller.organisation_id,
        "username": "kaeru.m",
        "password": NEW_PASSWORD,
    }
    response = httpx.post(f"{reseller.server.url}/core/session", json=body, timeout=60)
    assert response.status_code == 200


def test_the_page_of_a_person_shows_their_sessions(
    console: Console, open_console: OpenConsole, reseller: SampleReseller
) -> None:
    add_person(reseller, "mieru.m", "mieru@example.com")
    open_console(reseller, username="mieru.m").open("/security")

    console.open("/people/mieru.m")

    expect(console.page.get_by_role("grid", name="セッション").get_by_role("row")).to_have_count(2)
    console.check_accessibility()
