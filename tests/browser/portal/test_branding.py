"""The reseller's name, colour and logo in the portal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from nimbill.demo.logo import draw_logo
from tests.browser.console.conftest import Console, OpenConsole, open_console
from tests.browser.portal.conftest import PHONE, OpenPortal
from tests.browser.portal.sample_customer import SampleCustomer
from tests.browser.windows import Windows, WindowType

__all__ = ["open_console"]  # fixture

NAME = "みなとクラウドポータル"
BLUE = "#1a5fb4"
SHOWN_BLUE = "rgb(26, 95, 180)"


@pytest.fixture
def branded(customer: SampleCustomer) -> Iterator[SampleCustomer]:
    """The customer of a reseller with branding."""
    with customer.reseller.api() as api:
        settings = {"portal_name": NAME, "portal_colour": BLUE}
        assert api.put("/core/settings", json=settings).is_success
        yield customer
        api.put("/core/settings", json={"portal_name": "", "portal_colour": ""})
        api.delete("/core/portal-logo")


def find_strip(page: Page) -> Locator:
    return page.locator(".brand-strip")


def check_strip(page: Page) -> None:
    strip = find_strip(page)
    expect(strip).to_contain_text(NAME)
    expect(strip).to_have_css("background-color", SHOWN_BLUE)


def test_the_look_is_chosen_in_the_settings_and_shown_to_customers(
    open_console: OpenConsole, open_portal: OpenPortal, branded: SampleCustomer
) -> None:
    console = open_console(branded.reseller)
    page = console.page
    console.open("/settings")
    expect(find_strip(page)).to_contain_text(NAME)
    logo = FilePayload(name="logo.png", mimeType="image/png", buffer=draw_logo(BLUE))
    page.locator("input[type=file]").set_input_files([logo])
    expect(page.get_by_text("ロゴを保存しました。")).to_be_visible()
    expect(find_strip(page).locator("img")).to_be_visible()
    console.check_accessibility()

    portal = open_portal()
    portal.open("/dashboard")

    check_strip(portal.page)
    expect(portal.page).to_have_title(f"ダッシュボード | {NAME}")
    expect(portal.page.locator(".brand-logo").first).to_have_js_property("naturalWidth", 64)
    portal.check_accessibility()


def test_a_light_colour_and_another_file_are_refused(
    open_console: OpenConsole, customer: SampleCustomer
) -> None:
    console = open_console(customer.reseller)
    console.expected_refusals.add(400)
    page = console.page
    console.open("/settings")
    page.get_by_role("textbox", name="ポータルの色").fill("#ffd700")
    page.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_text("この色では白い文字が読めません。").first).to_be_visible()
    text = FilePayload(name="logo.png", mimeType="image/png", buffer=b"<svg/>")

    page.locator("input[type=file]").set_input_files([text])

    expect(
        page.get_by_text("壊れていないPNGまたはJPEGのファイルを選択してください。")
    ).to_be_visible()
    page.get_by_role("button", name="変更を破棄").click()


def test_the_sign_in_page_shows_whose_portal_it_is(
    windows: Windows, branded: SampleCustomer
) -> None:
    with windows.open(WindowType("ja", "Asia/Tokyo")) as recorded:
        page, window = recorded.page, Console(recorded, branded.url, root="/portal")

        page.goto(f"{branded.url}/portal?organisation={branded.organisation_id}")

        check_strip(page)
        expect(page).to_have_title(f"お客様ポータル | {NAME}")
        expect(page.get_by_role("textbox", name="組織")).to_have_value(branded.organisation_id)
        window.check_accessibility()
        window.check_no_errors()


def test_the_strip_fits_on_a_phone(open_portal: OpenPortal, branded: SampleCustomer) -> None:
    portal = open_portal(width=PHONE)

    portal.open_complete("/dashboard")

    check_strip(portal.page)
    portal.check_width(PHONE)


def test_without_branding_there_is_no_strip(open_portal: OpenPortal) -> None:
    portal = open_portal()

    portal.open("/dashboard")

    expect(portal.page).to_have_title("ダッシュボード | Nimbill")
    expect(find_strip(portal.page)).to_have_count(0)
