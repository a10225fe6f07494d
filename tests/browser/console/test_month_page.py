"""The month page: from costs to a closed month, and what a restricted person sees."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    OPEN_MONTH,
    UNKNOWN_ACCOUNT,
    SampleReseller,
    create_reseller,
)
from tests.imports.aws_reports import PAYER
from tests.proof.real_server import RealServer


def step(console: Console, title: str) -> Locator:
    heading = console.page.get_by_role("heading", name=title, exact=True)
    return console.page.get_by_role("listitem").filter(has=heading)


def assign_unknown_account(reseller: SampleReseller) -> None:
    account = {"vendor": "aws", "customer_id": UNKNOWN_ACCOUNT, "account_id": PAYER}
    company_id = reseller.companies["BG-0001"]
    with reseller.api() as api:
        body = {"company_id": company_id, "accounts": [account | {"name": "検証環境"}]}
        assert api.post("/core/accts/assign", json=body).status_code == 200


def test_a_month_is_billed_checked_and_closed(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    reseller = create_reseller(console_server, "Month end")
    console = open_console(reseller)
    console.expected_refusals.add(409)  # a rate without terms, which are then saved
    page = console.page
    console.open("/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("2026年9月 AWS")
    expect(step(console, "アカウントの割り当て")).to_contain_text("1件のアカウント")

    step(console, "為替レートの登録").get_by_role("button", name="レートを入力").click()
    page.get_by_label("1ドルあたりの円").fill("155.20")
    page.get_by_role("dialog").get_by_role("button", name="保存").click()
    expect(step(console, "為替レートの登録")).to_contain_text("完了")
    expect(step(console, "為替レートの登録")).to_contain_text("1 USD = 155.2 JPY")
    step(console, "為替レートの登録").get_by_role("button", name="レートを変更").click()
    expect(page.get_by_role("dialog")).to_contain_text("現在の登録：1 USD = 155.2 JPY")
    page.get_by_role("dialog").get_by_role("button", name="キャンセル").click()

    step(console, "請求書の作成").get_by_role("button", name="請求書を作成").click()
    expect(page.get_by_role("dialog")).to_contain_text("対象は3件の請求グループです。")
    page.get_by_role("dialog").get_by_role("button", name="作成").click()
    expect(page.get_by_text("請求書を3件作成しました。")).to_be_visible()
    expect(step(console, "請求書の確認")).to_contain_text("完了")

    assign_unknown_account(reseller)
    console.open(f"/sending/{OPEN_MONTH}/aws")
    warning = page.get_by_text("送付する前に確認してください")
    expect(warning).to_be_visible()
    page.get_by_role("link", name="この月の手順を見る").click()
    expect(step(console, "請求書の作成")).to_contain_text("1件の請求書は再作成が必要です。")
    expect(step(console, "請求書の確認")).to_contain_text(
        "先に「請求書の作成」を完了してください。"
    )
    step(console, "請求書の作成").get_by_role("button", name="再作成").click()
    expect(page.get_by_role("dialog")).to_contain_text("1件の請求書はすでにあり")
    page.get_by_role("dialog").get_by_role("button", name="作成").click()
    expect(step(console, "請求書の確認")).to_contain_text("完了")

    step(console, "締め").get_by_role("button", name="月を締める").click()
    dialog = page.get_by_role("dialog")
    close = dialog.get_by_role("button", name="月を締める")
    expect(close).to_be_disabled()
    expect(dialog).to_contain_text("この月の請求書は3件で、締めた後は再作成できません。")
    expect(dialog.get_by_role("listitem").filter(has_text="（税込）")).to_be_visible()
    expect(dialog).to_contain_text("3件の請求書が未送付です。")
    console.check_accessibility()
    dialog.get_by_label(f"確認のため {OPEN_MONTH} と入力してください").fill(OPEN_MONTH)
    close.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("締め済み")
    expect(page.get_by_role("link", name="請求書を見る").first).to_be_visible()
    page.reload()
    expect(step(console, "締め").get_by_role("button", name="締め解除")).to_be_visible()


def test_the_title_names_month_and_vendor_in_both_languages(console: Console) -> None:
    console.open(f"/months/{CLOSED_MONTH}/aws")
    title = console.page.get_by_role("heading", level=1)
    expect(title).to_contain_text("2026年8月 AWS")

    console.switch_language()

    expect(title).to_contain_text("August 2026 AWS")
