"""The audit log: who changed a rate, and that nobody has altered the log."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import OPEN_MONTH, SampleReseller


def test_somebody_finds_who_changed_a_rate(console: Console, reseller: SampleReseller) -> None:
    with reseller.api() as api:
        terms = {"internal": True, "settings": []}
        assert api.put(f"/core/invoices/save/{OPEN_MONTH}", json=terms).is_success
        for rate in (151.5, 152.75):
            body = {"vendor": "aws", "billing_groups": list(reseller.companies.values())}
            path = f"/core/invoices/exchangerate/{OPEN_MONTH}"
            assert api.put(path, json={**body, "exchange_rate": rate}).is_success
    page = console.page
    console.open("/audit")
    expect(page.get_by_text("改ざんなし")).to_be_visible()

    page.get_by_role("button", name="変更内容").click()
    page.get_by_role("option", name="為替レートの登録", exact=True).click()
    page.get_by_role("row").filter(has_text="152.75").get_by_role("button").first.click()

    dialog = page.get_by_role("dialog")
    row = dialog.get_by_role("row").filter(has_text="為替レート")
    expect(row).to_contain_text("151.5")
    expect(row).to_contain_text("152.75")
    expect(dialog).to_contain_text("root")
    console.check_accessibility()


def test_a_search_finds_the_names_of_changes(console: Console) -> None:
    page = console.page
    console.open("/audit")
    page.get_by_role("searchbox").fill("請求グループではない語")
    expect(page.get_by_role("button", name="検索条件を消去")).to_be_visible()

    page.get_by_role("searchbox").fill("為替")

    expect(page.get_by_role("row").filter(has_text="為替レートの登録").first).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="顧客の追加")).to_have_count(0)
