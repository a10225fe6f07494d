"""Payments of sent invoices: by hand, from a file, and what is left to pay."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    SampleReseller,
    create_reseller,
)
from tests.proof.real_server import RealServer

NAMES = {"BG-0001": "さくら商事", "BG-0002": "山手フーズ", "BG-0003": "みなと物流"}


@pytest.fixture(scope="module")
def creditor(console_server: RealServer) -> SampleReseller:
    """A reseller of its own, whose invoices are sent."""
    reseller = create_reseller(console_server, "Creditor")
    with reseller.api() as api:
        for company in reseller.companies.values():
            path = f"/core/invoices/{CLOSED_MONTH}/{company}/aws/sent"
            assert api.put(path, json={"revision": 1}).is_success
    return reseller


def read_balance(reseller: SampleReseller, group: str) -> Any:
    with reseller.api() as api:
        path = f"/core/invoices/{CLOSED_MONTH}/{reseller.companies[group]}/aws/payments"
        return api.get(path).json()


def open_payments(console: Console, reseller: SampleReseller, group: str) -> Page:
    console.open(f"/invoices/{CLOSED_MONTH}/{reseller.companies[group]}/aws?tab=payments")
    return console.page


def record_payment(page: Page, amount: str, note: str = "") -> None:
    page.get_by_role("button", name="入金を登録").click()
    dialog = page.get_by_role("dialog")
    if amount:
        dialog.get_by_label("金額（JPY）").fill(amount)
    dialog.get_by_label("メモ").fill(note)
    dialog.get_by_role("button", name="登録", exact=True).click()
    expect(dialog).to_have_count(0)


def choose_file(page: Page, *lines: str) -> None:
    content = "\n".join(("請求書番号,入金額,入金日,メモ,再登録", *lines)).encode()
    page.locator("input[type=file]").set_input_files(
        {"name": "payments.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="登録する").click()


def test_an_invoice_is_paid_in_two_parts(
    open_console: OpenConsole, creditor: SampleReseller
) -> None:
    console = open_console(creditor)
    page = open_payments(console, creditor, "BG-0001")
    total = read_balance(creditor, "BG-0001")["total"]
    expect(page.get_by_text("未入金", exact=True).first).to_be_visible()

    page.get_by_role("button", name="入金を登録").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("金額（JPY）")).to_have_value(str(total))
    console.check_accessibility()
    dialog.get_by_role("button", name="キャンセル").click()
    record_payment(page, "1,000", "銀行振込")

    expect(page.get_by_text("一部入金").first).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="銀行振込")).to_contain_text("¥1,000")
    expect(page.get_by_text(f"¥{total - 1000:,}")).to_be_visible()
    expect(page.get_by_role("button", name="請求書を取り消す")).to_have_count(0)
    console.check_accessibility()
    record_payment(page, "")

    expect(page.get_by_text("入金済み").first).to_be_visible()
    assert read_balance(creditor, "BG-0001")["open_balance"] == 0
    console.open("/receivables?balance=settled")
    row = page.get_by_role("row").filter(has_text=NAMES["BG-0001"])
    expect(row).to_contain_text("入金済み")


def test_a_payment_recorded_by_mistake_is_reversed(
    open_console: OpenConsole, creditor: SampleReseller
) -> None:
    console = open_console(creditor)
    page = open_payments(console, creditor, "BG-0002")
    left = read_balance(creditor, "BG-0002")["open_balance"]
    console.expected_refusals.add(409)  # more than the open balance

    page.get_by_role("button", name="入金を登録").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("金額（JPY）").fill(str(left + 1))
    dialog.get_by_role("button", name="登録", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("未入金残高を超えています")
    dialog.get_by_role("checkbox", name="過入金").check()
    dialog.get_by_role("button", name="登録", exact=True).click()
    expect(page.get_by_text("過入金", exact=True).first).to_be_visible()

    page.get_by_role("button", name="の入金を取消").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("理由").fill("別の顧客の入金")
    console.check_accessibility()
    dialog.get_by_role("button", name="取消", exact=True).click()

    expect(page.get_by_text("rootが取消: 別の顧客の入金")).to_be_visible()
    expect(page.get_by_text("未入金", exact=True).first).to_be_visible()
    assert read_balance(creditor, "BG-0002")["open_balance"] == left


def test_payments_are_recorded_from_a_file(
    open_console: OpenConsole, creditor: SampleReseller
) -> None:
    console = open_console(creditor)
    page = console.page
    console.expected_refusals.update((400, 409))
    found = read_balance(creditor, "BG-0003")
    number, total = found["invoice_no"], found["total"]
    console.open("/receivables")
    expect(page.get_by_role("row").filter(has_text=NAMES["BG-0003"])).to_contain_text("未入金")
    page.get_by_role("button", name="CSVから入金を登録").click()

    choose_file(page, f"{number},1,2026-09-05,,", "202608-9999,1,2026-09-05,,")
    row = page.get_by_role("row").filter(has_text="この番号の請求書はありません。")
    expect(row).to_contain_text("3")
    console.check_in_both_languages()
    console.switch_language()
    choose_file(page, f"{number},{total + 1},2026/9/5,,")
    expect(page.get_by_text("過入金は請求書の画面で登録してください。")).to_be_visible()
    assert read_balance(creditor, "BG-0003")["payments"] == []
    choose_file(page, f'{number},"{total:,}",2026/9/5,振込,')

    page.get_by_role("button", name="売掛金を見る").click()
    expect(page.get_by_role("heading", name="売掛金")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=NAMES["BG-0003"])).to_have_count(0)
    page.get_by_role("button", name="入金済み").click()
    expect(page.get_by_role("row").filter(has_text=NAMES["BG-0003"])).to_contain_text(number)
    totals = page.get_by_role("table", name="合計")
    expect(totals.get_by_role("row").filter(has_text="JPY")).to_contain_text("¥0")


def test_people_who_read_invoices_record_nothing(
    open_console: OpenConsole, creditor: SampleReseller
) -> None:
    with creditor.api() as api:
        role = {"name": "reader", "namespace": "core", "permissions": ["ReadInvoice"]}
        assert api.post("/auth/rbac/roles", json=role).is_success
        person = {"username": "yomi", "password": "correct horse 9"}
        created = api.post("/u/users", json=person | {"notification": {"email": "false"}})
        mapping = {
            "user_id": created.json()["user_id"],
            "roles": [{"namespace": "core", "role": "reader"}],
            "filters": [],
        }
        assert api.post("/auth/rbac/userroles", json=mapping).is_success
    console = open_console(creditor, username="yomi", password="correct horse 9")

    page = open_payments(console, creditor, "BG-0002")

    expect(page.get_by_text("未入金残高").first).to_be_visible()
    expect(page.get_by_role("button", name="入金を登録")).to_have_count(0)
    console.open("/receivables")
    expect(page.get_by_role("row").filter(has_text=NAMES["BG-0002"])).to_be_visible()
    expect(page.get_by_role("button", name="CSVから入金を登録")).to_have_count(0)
