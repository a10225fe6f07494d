"""The frame of every page: the top bar, and messages about what was done."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import CLOSED_MONTH

TOP_BAR_IS_ON_TOP = "document.getElementById('top-bar').getBoundingClientRect().top === 0"
# no row of a table can be seen between the bar and the headings
HEADINGS_ARE_BELOW_TOP_BAR = """() => {
  const edge = document.getElementById("top-bar").getBoundingClientRect().bottom;
  return document.elementFromPoint(700, edge + 2).closest("tbody") === null;
}"""


@pytest.mark.parametrize("width", [1440, 390])
def test_the_top_bar_stays_in_sight(console: Console, width: int) -> None:
    page = console.page
    page.set_viewport_size({"width": width, "height": 400})
    console.open("/settings")
    expect(page.get_by_role("button", name="保存", exact=True)).to_be_attached()

    page.mouse.move(width / 2, 300)
    page.mouse.wheel(0, 300)
    page.wait_for_function("window.scrollY >= 200")

    page.wait_for_function(TOP_BAR_IS_ON_TOP)
    expect(page.get_by_role("link", name="Nimbill")).to_be_in_viewport()


def test_headings_of_a_table_stay_right_below_the_top_bar(console: Console) -> None:
    page = console.page
    page.set_viewport_size({"width": 1440, "height": 400})
    console.open(f"/invoices/{CLOSED_MONTH}?vendor=aws")
    page.get_by_role("link", name="みなと物流").wait_for()

    page.mouse.move(700, 300)
    page.mouse.wheel(0, 300)
    page.wait_for_function("window.scrollY >= 100")

    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    page.wait_for_function(HEADINGS_ARE_BELOW_TOP_BAR)


def create_project(page: Page, code: str) -> None:
    page.get_by_role("button", name="プロジェクトを作成").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("コード").fill(code)
    dialog.get_by_label("名称").fill(code)
    dialog.get_by_role("button", name="保存").click()
    expect(dialog).to_be_hidden()


def test_a_message_about_what_was_done_goes_away(console: Console) -> None:
    page = console.page
    page.clock.install()
    console.open(f"/projects?month={CLOSED_MONTH}")
    create_project(page, "WEST")
    message = page.get_by_role("region", name="お知らせ").get_by_text("WEST")
    expect(message).to_be_visible()

    message.hover()
    page.clock.run_for(30_000)
    expect(message).to_be_visible()

    page.mouse.move(700, 700)
    page.clock.run_for(8_000)
    expect(message).to_be_hidden()


def test_a_message_in_the_other_language_goes_away(console: Console) -> None:
    page = console.page
    console.open(f"/projects?month={CLOSED_MONTH}")
    create_project(page, "EAST")
    message = page.get_by_role("region", name="お知らせ").get_by_text("EAST")
    expect(message).to_be_visible()

    page.get_by_role("button", name="English").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("Projects")
    expect(page.get_by_role("region", name="Messages").get_by_text("EAST")).to_be_hidden()


def test_a_page_that_was_chosen_meanwhile_is_not_replaced_by_the_newest_month(
    console: Console,
) -> None:
    page = console.page
    months: list[Route] = []
    chunks: list[Route] = []
    page.route("**/m/core/months?*", lambda route: months.append(route))
    page.route("**/customers-page*.js", lambda route: chunks.append(route))
    page.goto(f"{console.address}/console/months")
    with page.expect_request("**/customers-page*.js"):
        page.get_by_role("link", name="顧客", exact=True).click()

    with page.expect_response("**/m/core/months?*"):
        months[0].continue_()
    chunks[0].continue_()

    expect(page.get_by_role("heading", level=1)).to_contain_text("顧客")
    page.unroute_all()
