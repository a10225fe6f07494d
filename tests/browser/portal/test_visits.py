"""What a customer and its people do in the portal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.portal.conftest import OpenPortal, Portal
from tests.browser.portal.portal_pages import PAGES
from tests.browser.portal.sample_customer import (
    CLERK,
    CLOSED_MONTH,
    EMAIL,
    FIRST_ACCOUNT,
    MONTH,
    SECOND_ACCOUNT,
    VISITOR,
    SampleCustomer,
    find_foreign,
)
from tests.browser.windows import Windows, WindowType
from tests.proof.real_server import PASSWORD

# The pages whose flags are off for a new login.
HIDDEN = ("/invoices", "/fees", "/filters", "/budgets", "/people", "/roles", "/api-clients")
UNAVAILABLE = "このページは利用できません。"


@pytest.fixture
def portal(open_portal: OpenPortal) -> Portal:
    return open_portal()


@pytest.fixture
def window(windows: Windows, customer: SampleCustomer) -> Iterator[Console]:
    """A browser that has never signed in."""
    with windows.open(WindowType("en", "Asia/Tokyo")) as recorded:
        console = Console(recorded, customer.url, root="/portal")
        yield console
        console.check_no_errors()


def test_a_customer_signs_in_and_reads_its_own_language(
    window: Console, customer: SampleCustomer
) -> None:
    page = window.page
    page.goto(f"{customer.url}/portal/invoices")
    page.get_by_role("textbox", name="Organisation").fill(customer.organisation_id)
    page.get_by_role("textbox", name="User name").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    # the browser is English, the company's invoices are Japanese
    expect(page.get_by_role("heading", name="請求書", level=1)).to_be_visible()
    page.get_by_role("button", name="English").first.click()
    expect(page.get_by_role("heading", name="Invoices", level=1)).to_be_visible()
    page.get_by_role("button", name=EMAIL).first.click()
    page.get_by_role("menuitem", name="Sign out").first.click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_what_is_off_is_neither_shown_nor_requested(open_portal: OpenPortal) -> None:
    portal = open_portal(VISITOR)
    portal.open("/dashboard")
    links = portal.list_links()
    portal.page.wait_for_load_state("networkidle")  # what the dashboard has requested

    for path in HIDDEN:
        portal.responses.clear()
        portal.open(path)

        expect(portal.page.get_by_text(UNAVAILABLE)).to_be_visible()
        assert path not in links
        assert portal.requested_paths() <= {"/m/portal/me", "/portal/session/refresh"}


def test_all_flags_show_all_pages(portal: Portal) -> None:
    portal.open("/dashboard")

    pages = {path.partition("?")[0] for path in PAGES.values() if path.count("/") == 1}
    pages.remove("/security")  # in the menu of the person

    assert pages <= portal.list_links()


def test_a_user_with_a_filter_sees_its_account_only(open_portal: OpenPortal) -> None:
    portal = open_portal(CLERK)
    portal.open(f"/accounts?month={MONTH}")
    expect(portal.page.get_by_role("row").filter(has_text=SECOND_ACCOUNT).first).to_be_visible()
    contents = portal.read_everything()

    portal.open("/invoices")

    # its role allows invoices, but an invoice belongs to the whole company
    expect(portal.page.get_by_text(UNAVAILABLE)).to_be_visible()
    assert FIRST_ACCOUNT not in contents
    assert "さくら商事 本番" not in contents


def test_a_customer_sees_what_a_tag_cost_and_marks_it_provisional(portal: Portal) -> None:
    portal.open("/tags")
    page = portal.page
    page.goto(f"{portal.address}/portal/tags?month={MONTH}&key=Team&earlier=0")

    row = page.get_by_role("row").filter(has_text="web")

    expect(row.first).to_contain_text("¥")
    expect(page.get_by_text("請求書が未発行のため暫定です: 2026年10月（AWS）")).to_be_visible()


def test_a_customer_downloads_reports(portal: Portal) -> None:
    portal.open(f"/downloads?month={CLOSED_MONTH}")
    page = portal.page

    with page.expect_download() as report:
        page.get_by_role("button", name="利用料レポートをダウンロード").click()
    with page.expect_download() as focus:
        page.get_by_role("button", name="FOCUSファイルをダウンロード").click()

    assert report.value.suggested_filename == f"usage-account-{CLOSED_MONTH}.csv"
    assert focus.value.suggested_filename == f"focus-{CLOSED_MONTH}.csv"
    for file in (report.value.path(), focus.value.path()):
        assert FIRST_ACCOUNT in file.read_text()
        assert find_foreign(file.read_text()) == []


def test_a_budget_is_added_changed_and_deleted(portal: Portal) -> None:
    portal.open("/budgets")
    page = portal.page
    page.get_by_role("button", name="予算を追加").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="名称").fill("全社")
    dialog.get_by_role("textbox", name="月額").fill("120000")
    dialog.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_role("heading", name="全社", level=2)).to_be_visible()

    page.get_by_role("button", name="全社を変更").click()
    dialog.get_by_role("textbox", name="月額").fill("150000")
    dialog.get_by_role("button", name="保存", exact=True).click()

    expect(page.get_by_text("¥150,000").first).to_be_visible()
    portal.check_accessibility()
    page.get_by_role("button", name="全社を削除").click()
    dialog.get_by_role("button", name="削除", exact=True).click()
    expect(page.get_by_text("予算はまだありません。")).to_be_visible()


def test_an_account_group_is_created_and_deleted(portal: Portal) -> None:
    portal.open("/account-groups")
    page = portal.page
    page.get_by_role("button", name="グループを作成").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="名称").fill("開発チーム")
    dialog.get_by_role("button", name="アカウント").click()
    page.get_by_role("option").filter(has_text=SECOND_ACCOUNT).click()
    page.keyboard.press("Escape")
    dialog.get_by_role("button", name="保存", exact=True).click()
    row = page.get_by_role("row").filter(has_text="開発チーム")
    expect(row).to_contain_text("さくら商事 開発")

    page.get_by_role("button", name="開発チームを削除").click()
    dialog.get_by_role("button", name="削除", exact=True).click()

    expect(row).to_have_count(0)


def test_a_report_is_saved_as_a_filter_and_opened_again(portal: Portal) -> None:
    portal.open(f"/accounts?month={MONTH}&earlier=5")
    page = portal.page
    page.get_by_role("button", name="フィルターとして保存").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="名称").fill("半年")
    dialog.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_text("フィルターを保存しました。")).to_be_visible()
    portal.open("/filters")

    page.get_by_role("link", name="半年").click()

    page.wait_for_url(f"**/accounts?month={MONTH}&earlier=5")


def test_the_root_user_of_the_reseller_is_sent_to_its_console(open_portal: OpenPortal) -> None:
    portal = open_portal("root")

    portal.open("/dashboard")

    expect(portal.page.get_by_text("これはお客様向けの画面です。")).to_be_visible()
    assert portal.requested_paths() <= {"/m/portal/me", "/portal/session/refresh"}
