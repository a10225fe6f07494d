"""An invoice after it was created: it is sent, credited in part, or cancelled."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    SampleReseller,
    create_reseller,
)
from tests.invoicing.pdf.pdf_text import extract_text
from tests.proof.real_server import RealServer


@pytest.fixture(scope="module")
def sender(console_server: RealServer) -> SampleReseller:
    """A reseller of its own, because a sent invoice never changes."""
    return create_reseller(console_server, "Sender")


def open_invoice(console: Console, reseller: SampleReseller, group: str, tab: str = "") -> Page:
    console.open(f"/invoices/{CLOSED_MONTH}/{reseller.companies[group]}/aws?tab={tab or 'change'}")
    return console.page


def mark_as_sent(page: Page, reseller: SampleReseller, group: str) -> None:
    page.get_by_role("button", name="送付済みにする").click()
    confirm = page.get_by_role("dialog").get_by_role("button", name="送付済みにする")
    expect(confirm).to_be_disabled()
    confirm_number(page, reseller, group)
    confirm.click()
    expect(page.get_by_text("rootが").filter(has_text="に送付済みにしました")).to_be_visible()


def confirm_number(page: Page, reseller: SampleReseller, group: str) -> Locator:
    """Type the number of the invoice, which the dialog asks for."""
    with reseller.api() as api:
        path = f"/core/invoices/{CLOSED_MONTH}/{reseller.companies[group]}/aws"
        number = api.get(path).json()["invoice_no"]
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(f"確認のため {number} と入力してください").fill(number)
    return dialog


def test_an_invoice_is_sent_and_credited_by_hand(
    open_console: OpenConsole, sender: SampleReseller
) -> None:
    console = open_console(sender)
    page = open_invoice(console, sender, "BG-0001", tab="credit-notes")
    expect(page.get_by_text("未送付です。")).to_be_visible()
    expect(page.get_by_role("button", name="返還請求書を発行")).to_have_count(0)
    mark_as_sent(page, sender, "BG-0001")

    page.get_by_role("button", name="返還請求書を発行").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="金額を入力（税抜）").check()
    dialog.get_by_role("textbox", name="内容").fill("サポート費の過請求")
    dialog.get_by_role("textbox", name="金額（税抜）").fill("100")
    dialog.get_by_label("理由").fill("契約の誤り")
    console.check_accessibility()
    confirm_number(page, sender, "BG-0001").get_by_role("button", name="発行する").click()

    row = page.get_by_role("row").filter(has_text="契約の誤り")
    expect(row).to_contain_text("¥110")
    expect(page.get_by_text("返還済み：¥110（税込）")).to_be_visible()
    expect(page.get_by_role("button", name="請求書を取り消す")).to_have_count(0)
    console.check_accessibility()
    with page.expect_download() as download:
        row.get_by_role("button").click()
    printed = extract_text(download.value.path().read_bytes())
    assert "返還請求書番号" in printed
    assert "サポート費の過請求" in printed


def test_lines_of_an_invoice_are_credited(
    open_console: OpenConsole, sender: SampleReseller
) -> None:
    console = open_console(sender)
    page = open_invoice(console, sender, "BG-0002", tab="credit-notes")
    mark_as_sent(page, sender, "BG-0002")

    page.get_by_role("button", name="返還請求書を発行").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="請求書の明細").check()
    dialog.get_by_role("button", name="返還する明細").click()
    page.get_by_role("option").filter(has_text="AmazonEC2").click()
    page.keyboard.press("Escape")
    dialog.get_by_label("理由").fill("利用していないサービス")
    confirm_number(page, sender, "BG-0002").get_by_role("button", name="発行する").click()

    expect(page.get_by_role("row").filter(has_text="利用していないサービス")).to_be_visible()


def test_a_sent_invoice_is_cancelled_for_a_reason(
    open_console: OpenConsole, sender: SampleReseller
) -> None:
    console = open_console(sender)
    page = open_invoice(console, sender, "BG-0003", tab="revisions")
    expect(page.get_by_role("button", name="第1版をPDFで保存")).to_be_visible()
    mark_as_sent(page, sender, "BG-0003")

    page.get_by_role("button", name="請求書を取り消す").click()
    page.get_by_role("dialog").get_by_label("理由").fill("宛先の誤り")
    console.check_accessibility()
    dialog = confirm_number(page, sender, "BG-0003")
    dialog.get_by_role("button", name="請求書を取り消す").click()

    expect(page.get_by_text("に取り消しました：宛先の誤り")).to_be_visible()
    expect(page.get_by_role("button", name="請求書を取り消す")).to_have_count(0)
    console.check_accessibility()
