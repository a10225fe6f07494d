"""The pages of customers: finding one, adding one, and what its page shows."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import SampleReseller


def test_a_customer_is_added_and_found(console: Console) -> None:
    page = console.page
    console.open("/customers/new")
    page.get_by_label("会社名").fill("株式会社ゆうひ工業")
    page.get_by_label("請求グループ名").fill("ゆうひ工業")
    page.get_by_label("顧客ID").fill("BG-0900")
    page.get_by_role("button", name="顧客を登録").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("株式会社ゆうひ工業")
    expect(page.get_by_text("請求条件がないため").first).to_be_visible()

    console.open("/customers?search=ゆうひ")
    expect(page.get_by_role("link", name="株式会社ゆうひ工業")).to_be_visible()
    expect(page.get_by_role("link", name="株式会社さくら商事")).to_have_count(0)
    console.check_accessibility()


def test_the_page_says_terms_and_results_in_words(
    console: Console, reseller: SampleReseller
) -> None:
    page = console.page
    console.open(f"/customers/{reseller.companies['BG-0002']}")
    expect(page.get_by_role("link", name="2026年8月")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="消費税は")).to_be_visible()
    console.check_accessibility()


def test_the_invoices_of_a_customer_are_saved_as_csv(
    console: Console, reseller: SampleReseller
) -> None:
    page = console.page
    console.open(f"/customers/{reseller.companies['BG-0002']}")

    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()

    header, line, *_ = download.value.path().read_text("utf-8-sig").splitlines()
    assert header.split(",")[:3] == ["月", "ベンダー", "通貨"]
    assert line.split(",")[:3] == ["2026-08", "AWS", "JPY"]


def test_the_page_leads_to_the_changes_of_the_customer(
    console: Console, reseller: SampleReseller
) -> None:
    page = console.page
    console.open(f"/customers/{reseller.companies['BG-0002']}")
    page.get_by_role("link", name="変更履歴").click()
    # their number follows once they are loaded
    expect(page.get_by_role("heading", level=1)).to_contain_text("監査ログ")
    expect(page.get_by_role("row").filter(has_text="顧客の追加")).to_have_count(1)
    expect(page.get_by_role("row").filter(has_text="さくら商事")).to_have_count(0)


def test_errors_of_a_csv_file_are_listed_by_line(console: Console) -> None:
    page = console.page
    console.open("/customers/import")
    content = "billinggroup_id,billinggroup_name,company_name\nBG-0901,,x\n"
    page.locator("input[type=file]").first.set_input_files(
        {"name": "customers.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.get_by_role("button", name="登録する").first.click()
    expect(page.get_by_text("何も登録されませんでした。")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="billinggroup_name")).to_contain_text("2")
    # The browser reports the refusal as an error of its own.
    console.recorded.errors.clear()
