"""A member of staff sees the portal as a customer sees it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.chromium import RecordedPage
from tests.browser.console.conftest import Console, OpenConsole, open_console
from tests.browser.portal.sample_customer import EMAIL, SampleCustomer
from tests.browser.windows import TIMEOUT_MILLISECONDS
from tests.proof.real_server import PASSWORD

__all__ = ["open_console"]  # fixture

VIEW = "この顧客としてポータルを表示"
BANNER = "さくら商事に表示される内容です。変更はできません。"
ENDED = "ポータルの表示を終了しました。"


def open_view(console: Console, customer: SampleCustomer) -> Console:
    """Press the button on the page of the customer; return the new tab."""
    console.open(f"/customers/{customer.company_id}")
    with console.page.context.expect_page() as opened:
        console.page.get_by_role("button", name=VIEW).click()
    page = opened.value
    page.set_default_timeout(TIMEOUT_MILLISECONDS)
    view = Console(RecordedPage(page), customer.url, root="/portal")
    page.wait_for_url("**/portal/dashboard")
    return view


def read_stores(page: Page) -> dict[str, str]:
    """What the browser keeps for all tabs."""
    stored: dict[str, str] = page.evaluate("() => ({...localStorage})")
    return stored


def test_a_member_of_staff_views_and_leaves_the_portal_of_a_customer(
    open_console: OpenConsole, customer: SampleCustomer
) -> None:
    console = open_console(customer.reseller, language="en")
    console.page.add_init_script("window.localStorage?.setItem('nimbill-language', 'ja');")
    view = open_view(console, customer)
    page = view.page

    # the customer's language, whatever the person uses in the console
    expect(page.get_by_text(BANNER)).to_be_visible()
    expect(page.get_by_text("rootが表示中です。")).to_be_visible()
    expect(page.get_by_role("heading", name="ダッシュボード", level=1)).to_be_visible()
    expect(page.get_by_role("button", name=EMAIL)).to_have_count(0)
    view.check_accessibility()
    assert "token" not in page.url
    page.reload()
    expect(page.get_by_text(BANNER)).to_be_visible()

    page.get_by_role("button", name="表示を終了").click()

    expect(page.get_by_text(ENDED)).to_be_visible()
    view.check_accessibility()
    assert page.evaluate("() => sessionStorage.length") == 0
    console.open("/customers")
    expect(console.page.get_by_role("heading", name="顧客", level=1)).to_be_visible()


def test_the_page_about_ones_own_login_is_not_shown(
    open_console: OpenConsole, customer: SampleCustomer
) -> None:
    view = open_view(open_console(customer.reseller), customer)

    view.open("/security")

    expect(view.page.get_by_text("このページは利用できません。")).to_be_visible()
    view.check_no_errors()


def test_a_session_of_the_portal_in_the_same_browser_stays(
    open_console: OpenConsole, customer: SampleCustomer
) -> None:
    console = open_console(customer.reseller)
    context = console.page.context
    login = {"organisation": customer.organisation_id, "username": EMAIL, "password": PASSWORD}
    assert context.request.post(f"{customer.url}/portal/session", data=login).ok
    own = context.new_page()
    own.set_default_timeout(TIMEOUT_MILLISECONDS)
    own.add_init_script("window.localStorage?.setItem('nimbill-session-portal', 'open');")
    own.goto(f"{customer.url}/portal/dashboard")
    expect(own.get_by_role("button", name=EMAIL).first).to_be_visible()
    view = open_view(console, customer)
    before = read_stores(own)
    view.page.get_by_role("button", name="表示を終了").click()
    expect(view.page.get_by_text(ENDED)).to_be_visible()
    own.reload()

    expect(own.get_by_role("button", name=EMAIL).first).to_be_visible()
    assert own.get_by_text(BANNER).count() == 0
    assert read_stores(own) == before


def test_a_view_that_has_ended_elsewhere_says_so(
    open_console: OpenConsole, customer: SampleCustomer
) -> None:
    console = open_console(customer.reseller)
    view = open_view(console, customer)
    expect(view.page.get_by_text(BANNER)).to_be_visible()
    console.page.get_by_role("button", name="root").first.click()
    console.page.get_by_role("menuitem", name="サインアウト").first.click()
    expect(console.page.get_by_role("button", name="サインイン")).to_be_visible()

    view.page.get_by_role("link", name="請求書", exact=True).first.click()

    expect(view.page.get_by_text(ENDED)).to_be_visible()


def test_the_time_of_a_view_runs_out(open_console: OpenConsole, customer: SampleCustomer) -> None:
    view = open_view(open_console(customer.reseller), customer)
    page = view.page
    expect(page.get_by_text("あと15分で終了します。")).to_be_visible()

    page.clock.install()
    page.reload()
    expect(page.get_by_text(BANNER)).to_be_visible()
    page.clock.fast_forward("15:00")

    expect(page.get_by_text(ENDED)).to_be_visible()
