"""A sent invoice is corrected from its preview, and its publication is chosen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    OPEN_MONTH,
    SampleReseller,
    bill_month,
    create_reseller,
)
from tests.browser.console.test_late_costs import import_late_costs
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.proof.real_server import RealServer


@pytest.fixture(scope="module")
def issuer(console_server: RealServer) -> SampleReseller:
    """A reseller of its own, whose closed and open month are sent."""
    reseller = create_reseller(console_server, "Issuer")
    with reseller.api() as api:
        bill_month(api, OPEN_MONTH, list(reseller.companies.values()))
        for month in (CLOSED_MONTH, OPEN_MONTH):
            for company in reseller.companies.values():
                path = f"/core/invoices/{month}/{company}/aws/sent"
                assert api.put(path, json={"revision": 1}).is_success
    return reseller


def open_correction(console: Console, reseller: SampleReseller, month: str, group: str) -> Page:
    console.open(f"/invoices/{month}/{reseller.companies[group]}/aws?tab=correction")
    return console.page


def confirm(page: Page, action: str, reason: str) -> None:
    """Give the reason, type the number of the invoice that the label names, and confirm."""
    dialog = page.get_by_role("dialog")
    button = dialog.get_by_role("button", name=action)
    expect(button).to_be_disabled()
    dialog.get_by_label("理由").fill(reason)
    field = dialog.get_by_label(re.compile("確認のため"))
    label = dialog.get_by_text(re.compile("確認のため .* と入力してください")).inner_text()
    field.fill(label.split()[1])
    button.click()


def test_late_costs_are_credited_from_the_preview(
    open_console: OpenConsole, issuer: SampleReseller
) -> None:
    import_late_costs(issuer)
    console = open_console(issuer)
    page = open_correction(console, issuer, CLOSED_MONTH, "BG-0001")
    rates = page.get_by_role("grid", name="税率別の差額")
    expect(rates.get_by_role("row").filter(has_text="10%")).to_contain_text("−¥1,469")
    lines = page.get_by_role("grid", name="訂正される明細")
    expect(lines.get_by_role("row").filter(has_text="AmazonEC2")).to_be_visible()
    console.check_accessibility()

    page.get_by_role("button", name="訂正の返還請求書を発行").click()
    expect(page.get_by_role("dialog")).to_contain_text("（税込）の返還請求書を発行します。")
    console.check_accessibility()
    confirm(page, "返還請求書を発行する", "確定値による訂正")
    expect(page.get_by_text("の返還請求書を発行しました。")).to_be_visible()
    expect(page.get_by_text("返還済み：")).to_be_visible()

    page.get_by_role("tab", name="返還請求書").click()
    expect(page.get_by_role("row").filter(has_text="確定値による訂正")).to_be_visible()


def test_a_higher_invoice_is_netted_after_its_payment_forbids_a_replacement(
    open_console: OpenConsole, issuer: SampleReseller
) -> None:
    company = issuer.companies["BG-0002"]
    with issuer.api() as api:
        path = f"/core/invoices/{CLOSED_MONTH}/{company}/aws/payments"
        paid = api.post(path, json={"amount": 100, "paid_on": "2026-09-30"})
        assert paid.is_success, paid.text
    console = open_console(issuer)
    page = open_correction(console, issuer, CLOSED_MONTH, "BG-0002")
    expect(page.get_by_text("返還請求書では請求できません。")).to_be_visible()
    expect(page.get_by_role("button", name="訂正の返還請求書を発行")).to_be_disabled()

    page.get_by_role("button", name="請求書を差し替える").click()
    console.expected_refusals.add(409)
    confirm(page, "請求書を差し替える", "追加費用")
    refusal = page.get_by_role("dialog").get_by_role("alert")
    expect(refusal).to_contain_text("入金を取り消してください。")
    page.get_by_role("dialog").get_by_role("button", name="キャンセル").click()

    page.get_by_role("button", name="後の請求書で相殺").click()
    expect(page.get_by_role("dialog")).to_contain_text("2026年9月の請求書が税抜で")
    confirm(page, "後の請求書で相殺する", "追加費用")
    expect(page.get_by_text("の調整項目にしました。")).to_be_visible()


def test_an_invoice_of_an_open_month_is_published_later_and_replaced(
    open_console: OpenConsole, issuer: SampleReseller
) -> None:
    company = issuer.companies["BG-0003"]
    with issuer.api() as api:
        saved = {**VALID_SETTING, "discount_rate": 0.5, "memo": ""}
        settings = {company: {"aws": saved}}
        path = f"/core/invoices/save/{OPEN_MONTH}"
        changed = api.put(path, json={"internal": False, "settings": settings})
        assert changed.is_success, changed.text
    console = open_console(issuer)
    page = open_correction(console, issuer, OPEN_MONTH, "BG-0003")

    page.get_by_role("button", name="公開日時を変更").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("組織のタイムゾーン（Asia/Tokyo）")
    dialog.get_by_label("公開日", exact=True).fill("2027/01/05")
    dialog.get_by_label("公開時刻").fill("08:30")
    expect(dialog).to_contain_text("顧客から見えなくなります。")
    console.check_accessibility()
    dialog.get_by_role("button", name="保存").click()
    expect(page.get_by_text("2027/01/05 8:30").first).to_be_visible()

    page.get_by_role("button", name="請求書を差し替える").click()
    console.check_accessibility()
    confirm(page, "請求書を差し替える", "割引率の誤り")
    expect(page.get_by_text("未送付です。")).to_be_visible()
    expect(page.get_by_text("割引率の誤り")).to_be_visible()
    console.check_accessibility_in_both_languages()
