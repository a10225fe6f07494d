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
from tests.browser.console.test_approvals_page import PASSWORD, add_person
from tests.browser.console.test_late_costs import import_late_costs
from tests.customers.billing_groups.sample_bodies import VALID_SETTING
from tests.proof.real_server import RealServer


def create_sent_reseller(server: RealServer, name: str) -> SampleReseller:
    """A reseller whose closed and open month are sent."""
    reseller = create_reseller(server, name)
    with reseller.api() as api:
        bill_month(api, OPEN_MONTH, list(reseller.companies.values()))
        for month in (CLOSED_MONTH, OPEN_MONTH):
            for company in reseller.companies.values():
                path = f"/core/invoices/{month}/{company}/aws/sent"
                assert api.put(path, json={"revision": 1}).is_success
    return reseller


@pytest.fixture(scope="module")
def issuer(console_server: RealServer) -> SampleReseller:
    return create_sent_reseller(console_server, "Issuer")


def change_discount(reseller: SampleReseller, group: str) -> None:
    """Change the discount of the open month after its invoice was sent."""
    with reseller.api() as api:
        saved = {**VALID_SETTING, "discount_rate": 0.5, "memo": ""}
        settings = {reseller.companies[group]: {"aws": saved}}
        path = f"/core/invoices/save/{OPEN_MONTH}"
        changed = api.put(path, json={"internal": False, "settings": settings})
        assert changed.is_success, changed.text


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
    change_discount(issuer, "BG-0003")
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
    console.check_in_both_languages()


@pytest.fixture(scope="module")
def careful_issuer(console_server: RealServer) -> SampleReseller:
    """A reseller that requires a second person for credit notes; both of its months are sent."""
    reseller = create_sent_reseller(console_server, "Careful issuer")
    with reseller.api() as api:
        add_person(api, "suzuki", "ReadInvoice", "ApproveRequests")
        required = {"approval_required": ["credit_note"]}
        assert api.put("/core/settings", json=required).is_success
    return reseller


def request_approval(page: Page, comment: str) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("別の担当者の承認が必要です")).to_be_visible()
    dialog.get_by_role("textbox", name="承認者へのコメント").fill(comment)
    dialog.get_by_role("button", name="承認を依頼").click()
    page.get_by_role("link", name="承認依頼を見る").last.click()
    expect(page.get_by_text("承認待ち")).to_be_visible()


def approve(console: Console, comment: str) -> None:
    page = console.page
    console.open("/approvals")
    page.get_by_role("row").filter(has_text=comment).get_by_role("link").first.click()
    page.get_by_role("button", name="承認する").click()
    page.get_by_role("dialog").get_by_role("button", name="承認する").click()
    expect(page.get_by_text("承認・実行済み", exact=True)).to_be_visible()


def test_corrections_are_requested_where_two_people_are_required(
    open_console: OpenConsole, careful_issuer: SampleReseller
) -> None:
    import_late_costs(careful_issuer)
    change_discount(careful_issuer, "BG-0003")
    console = open_console(careful_issuer)
    console.expected_refusals.add(409)

    page = open_correction(console, careful_issuer, CLOSED_MONTH, "BG-0001")
    page.get_by_role("button", name="訂正の返還請求書を発行").click()
    confirm(page, "返還請求書を発行する", "確定値による訂正")
    console.check_accessibility()
    request_approval(page, "費用差額")
    expect(page.get_by_role("heading", level=1)).to_contain_text("費用差額の精算")

    page = open_correction(console, careful_issuer, OPEN_MONTH, "BG-0003")
    page.get_by_role("button", name="請求書を差し替える").click()
    confirm(page, "請求書を差し替える", "割引率の誤り")
    request_approval(page, "差し替え")
    expect(page.get_by_role("heading", level=1)).to_contain_text("請求書の差し替え")
    changes = page.get_by_role("grid", name="変更前と変更後")
    expect(changes.get_by_role("row").filter(has_text="合計")).to_be_visible()
    console.check_accessibility()

    company = careful_issuer.companies["BG-0002"]
    console.open(f"/invoices/{OPEN_MONTH}/{company}/aws")
    page.get_by_role("button", name="請求書を取り消す").click()
    confirm(page, "請求書を取り消す", "誤送付")
    request_approval(page, "取り消し")
    expect(page.get_by_role("heading", level=1)).to_contain_text("請求書の取り消し")

    approver = open_console(careful_issuer, username="suzuki", password=PASSWORD)
    for comment in ("費用差額", "差し替え", "取り消し"):
        approve(approver, comment)
    console.open(f"/invoices/{CLOSED_MONTH}/{careful_issuer.companies['BG-0001']}/aws")
    expect(page.get_by_text("返還済み：")).to_be_visible()
    console.open(f"/invoices/{OPEN_MONTH}/{careful_issuer.companies['BG-0003']}/aws")
    expect(page.get_by_text("割引率の誤り")).to_be_visible()
    console.open(f"/invoices/{OPEN_MONTH}/{company}/aws")
    expect(page.get_by_text("誤送付")).to_be_visible()
