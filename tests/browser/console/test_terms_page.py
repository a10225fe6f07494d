"""The terms form: the effect of a discount is seen before it is saved."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import (
    OPEN_MONTH,
    SampleReseller,
    bill_month,
    create_reseller,
)
from tests.proof.real_server import RealServer


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
    sums = page.get_by_role("grid", name="プレビューの合計")
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


def test_a_corrected_discount_reaches_the_open_month(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    reseller = create_reseller(console_server, "Corrected terms")
    allow_both_columns(reseller)
    company = reseller.companies["BG-0001"]
    with reseller.api() as api:
        bill_month(api, OPEN_MONTH, list(reseller.companies.values()))
    console = open_console(reseller)
    page = console.page
    console.open(f"/customers/{company}/terms/aws")
    change_discount(console, "33")
    expect(page.get_by_label("未締めの月（2026年9月）にもこの請求条件を適用する")).to_be_checked()
    console.check_accessibility()
    page.get_by_role("button", name="請求条件を保存").click()
    expect(page.get_by_text("次の月は請求書の再作成が必要です：")).to_be_visible()
    page.get_by_role("link", name="2026年9月").click()

    created = page.get_by_role("listitem").filter(has_text="1件の請求書は再作成が必要です")
    expect(created.first).to_be_visible()
    expect(page.get_by_text("1 USD = 150.25 JPY")).to_be_visible()
    console.check_accessibility()
    console.open(f"/invoices/{OPEN_MONTH}?vendor=aws")
    expect(page.get_by_role("row").filter(has_text="要再作成")).to_have_count(1)

    console.open(f"/months/{OPEN_MONTH}/aws")
    page.get_by_role("button", name="月を締める").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("この月の請求書は3件で")
    expect(dialog).to_contain_text("1件の請求書は再作成が必要です")
    expect(dialog).to_contain_text("1件の調整項目が未決定です")
    console.check_accessibility()
    dialog.get_by_role("button", name="キャンセル").click()

    page.get_by_role("button", name="再作成").click()
    page.get_by_role("dialog").get_by_role("button", name="作成").click()
    expect(page.get_by_text("請求書を1件作成しました。")).to_be_visible()
    expect(created).to_have_count(0)
    with reseller.api() as api:
        invoice = api.get(f"/core/invoices/{OPEN_MONTH}/{company}/aws").json()
    assert invoice["setting"]["discount_rate"] == 0.33
