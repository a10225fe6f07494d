"""The pages Invoices, Invoice, Checks and Projects: from a list to the reason of an amount."""

from __future__ import annotations

import csv
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import CLOSED_MONTH


def test_a_filter_that_leaves_everything_out_is_cleared(console: Console) -> None:
    page = console.page
    console.open(f"/invoices/{CLOSED_MONTH}?vendor=aws&invoiced=false&search=さくら")
    expect(page.get_by_text("見つかりません").first).to_be_visible()

    page.get_by_role("button", name="検索条件を消去").click()

    expect(page.get_by_role("link", name="さくら商事")).to_be_visible()


def test_an_invoice_is_found_and_explained(console: Console) -> None:
    page = console.page
    console.open(f"/invoices/{CLOSED_MONTH}?vendor=aws")
    expect(page.get_by_role("table", name="合計")).to_contain_text("JPY")
    console.check_accessibility()

    page.get_by_role("link", name="さくら商事").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("さくら商事の請求書")
    expect(page.get_by_text("比較する2026年7月の請求書がありません。")).to_be_visible()

    page.get_by_role("tab", name="金額の計算根拠").click()
    page.get_by_role("button", name="AmazonEC2").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("計算式")).to_be_visible()
    expect(dialog.get_by_text("対象額の日別内訳")).to_be_visible()


def test_the_invoices_of_a_month_are_saved_for_accounting(console: Console) -> None:
    page = console.page
    console.open(f"/invoices/{CLOSED_MONTH}?vendor=aws")
    row = page.get_by_role("row").filter(has_text="さくら商事")
    expect(row).to_contain_text("未送付")
    create = page.get_by_role("button", name="請求書を作成", exact=True)
    expect(create).to_have_count(0)  # the month is closed
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()

    assert download.value.suggested_filename == f"invoices-{CLOSED_MONTH}-aws.csv"
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    first, *_others = csv.DictReader(text.splitlines())
    assert (first["月"], first["ベンダー"], first["状態"]) == (
        CLOSED_MONTH,
        "AWS",
        "未送付 発行者なし",
    )
    assert first["会社名"] == "株式会社さくら商事"
    assert "" not in (first["発行日"], first["課税対象額"], first["消費税"])


def test_checks_lead_to_their_cause(console: Console) -> None:
    page = console.page
    console.open(f"/checks/{CLOSED_MONTH}/aws")
    expect(page.get_by_text("請求書と費用は一致しています。")).to_be_visible()
    console.check_accessibility()
    page.get_by_role("link", name="山手フーズ").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("山手フーズの請求書")


def test_a_project_is_created_and_deleted(console: Console) -> None:
    page = console.page
    console.open(f"/projects?month={CLOSED_MONTH}")
    page.get_by_role("button", name="プロジェクトを作成").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("コード").fill("NORTH")
    dialog.get_by_label("名称").fill("北日本営業部")
    dialog.get_by_role("button", name="保存").click()
    expect(page.get_by_role("cell", name="北日本営業部")).to_be_visible()
    console.check_accessibility()

    page.get_by_role("button", name="NORTHの操作").click()
    page.get_by_role("menuitem", name="削除").click()
    page.get_by_label("確認のため NORTH と入力してください").fill("NORTH")
    page.get_by_role("dialog").get_by_role("button", name="削除").click()
    expect(page.get_by_text("プロジェクトNORTHを削除しました。")).to_be_visible()
