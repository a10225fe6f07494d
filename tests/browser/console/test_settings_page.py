"""Settings, API clients and the search of the top bar."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import SampleReseller


def test_two_people_who_change_settings_see_both_versions(
    console: Console, reseller: SampleReseller
) -> None:
    page = console.page
    console.open("/settings")
    page.get_by_role("radio", name="切り捨て").check()
    with reseller.api() as api:
        assert api.put("/core/settings", json={"rounding": "up"}).is_success

    page.get_by_role("button", name="保存", exact=True).click()

    dialog = page.get_by_role("dialog").filter(has_text="他の人が変更しました")
    expect(dialog.get_by_role("row").filter(has_text="端数処理")).to_contain_text("切り上げ")
    dialog.get_by_role("button", name="相手の内容を使う").click()
    expect(page.get_by_role("radio", name="切り上げ")).to_be_checked()
    page.get_by_role("radio", name="四捨五入").check()
    page.get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_text("設定を保存しました。")).to_be_visible()
    console.check_accessibility()
    console.recorded.errors.clear()  # the browser reports the refused request


def test_the_secret_of_an_api_client_is_shown_once(console: Console) -> None:
    page = console.page
    console.open("/api-clients")
    page.get_by_role("button", name="APIクライアントを作成").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="名称").fill("月次取り込み")
    dialog.get_by_role("button", name="作成", exact=True).click()
    expect(page.get_by_role("button", name="シークレットをコピー")).to_be_visible()

    page.get_by_role("button", name="シークレットを保管しました").click()

    expect(page.get_by_role("row").filter(has_text="月次取り込み")).to_be_visible()
    expect(page.get_by_role("button", name="シークレットをコピー")).to_have_count(0)
    console.check_accessibility()


def test_the_top_bar_finds_a_customer(open_console: OpenConsole, reseller: SampleReseller) -> None:
    console = open_console(reseller)
    console.open("/settings")
    field = console.page.get_by_role("combobox", name="顧客、アカウント、請求書を検索")
    field.fill("さくら")
    console.page.get_by_role("option").filter(has_text="BG-0001").wait_for()

    field.press("ArrowDown")
    field.press("Enter")

    console.page.wait_for_url(f"**/customers/{reseller.companies['BG-0001']}")
