"""The terms form: the effect of a discount is seen before it is saved."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import SampleReseller


def change_discount(console: Console, percent: str) -> None:
    console.page.get_by_label("割引率（％）").fill(percent)


def allow_both_columns(reseller: SampleReseller) -> None:
    """Terms with 10 % tax can be changed only with this setting."""
    with reseller.api() as api:
        body = {"invoice_setting_update": "either"}
        assert api.put("/core/settings", json=body).is_success


def test_a_discount_is_previewed_and_saved(console: Console, reseller: SampleReseller) -> None:
    allow_both_columns(reseller)
    page = console.page
    company = reseller.companies["BG-0001"]
    console.open(f"/customers/{company}/terms/aws")
    change_discount(console, "50")
    sums = page.get_by_role("table", name="プレビューの合計")
    expect(sums.get_by_role("row").filter(has_text="合計").last).to_contain_text("−")
    console.check_accessibility()
    page.get_by_role("button", name="請求条件を保存").click()
    expect(page.get_by_text("の請求条件を保存しました。")).to_be_visible()
    with reseller.api() as api:
        stored = api.get(f"/core/billinggroup/{company}/resource").json()
    assert stored["invoices"]["aws"]["discount_rate"] == 0.5


def test_two_people_do_not_overwrite_each_other(
    open_console: OpenConsole, reseller: SampleReseller
) -> None:
    allow_both_columns(reseller)
    path = f"/customers/{reseller.companies['BG-0003']}/terms/aws"
    first, second = open_console(reseller), open_console(reseller)
    for console, percent in ((first, "11"), (second, "22")):
        console.open(path)
        change_discount(console, percent)
    first.page.get_by_role("button", name="請求条件を保存").click()
    expect(first.page.get_by_text("の請求条件を保存しました。")).to_be_visible()
    second.page.get_by_role("button", name="請求条件を保存").click()
    dialog = second.page.get_by_role("dialog")
    expect(dialog).to_contain_text("11％")
    expect(dialog).to_contain_text("22％")
    dialog.get_by_role("button", name="相手の内容を使う").click()
    expect(second.page.get_by_label("割引率（％）")).to_have_value("11")
    # The browser reports the refusal as an error of its own.
    second.recorded.errors.clear()


def test_both_parts_of_the_base_of_the_support_fee_are_shown_and_saved(
    console: Console, reseller: SampleReseller
) -> None:
    allow_both_columns(reseller)
    page = console.page
    company = reseller.companies["BG-0002"]
    console.open(f"/customers/{company}/terms/aws")
    expect(page.locator("#terms").get_by_role("link", name="設定")).to_be_visible()
    page.get_by_role("radiogroup", name="割引前と割引後のどちらで").get_by_label("割引後").check()
    page.get_by_role("radiogroup", name="一時費用").get_by_label("一時費用を含める").check()
    page.get_by_role("button", name="請求条件を保存").click()
    expect(page.get_by_text("の請求条件を保存しました。")).to_be_visible()

    with reseller.api() as api:
        stored = api.get(f"/core/billinggroup/{company}/resource").json()
    target = {"usage": "discounted", "scope": "cloudpaywithfee"}
    assert stored["support_fee_targets"]["aws"] == target
