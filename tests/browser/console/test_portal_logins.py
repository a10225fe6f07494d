"""The portal logins of a customer: one is created, sees less, and is deleted."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import SampleReseller

EMAIL = "keiri@sakura.example"


def test_a_portal_login_is_created_changed_and_deleted(
    console: Console, reseller: SampleReseller
) -> None:
    page = console.page
    console.open(f"/customers/{reseller.companies['BG-0001']}?tab=portal")
    page.get_by_role("button", name="ポータルのログインを追加").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("メールアドレス").fill(EMAIL)
    console.check_accessibility()
    dialog.get_by_role("button", name="作成").click()
    expect(
        page.get_by_text(f"{EMAIL}がポータルにサインインできるようになりました。")
    ).to_be_visible()
    expect(page.get_by_role("button", name="パスワードをコピー")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="閉じる").last.click()

    row = page.get_by_role("row").filter(has_text=EMAIL)
    expect(row).to_contain_text("12")
    row.get_by_role("button", name=f"{EMAIL}の操作").click()
    page.get_by_role("menuitem", name="表示内容を選択").click()
    page.get_by_role("dialog").get_by_role("checkbox", name="請求書").first.uncheck()
    page.get_by_role("dialog").get_by_role("button", name="保存").click()
    expect(page.get_by_text(f"{EMAIL}の表示内容を保存しました。")).to_be_visible()
    expect(row).to_contain_text("11")

    row.get_by_role("button", name=f"{EMAIL}の操作").click()
    page.get_by_role("menuitem", name="削除").click()
    page.get_by_role("dialog").get_by_label("確認のため").fill(EMAIL)
    page.get_by_role("dialog").get_by_role("button", name="削除").click()
    expect(page.get_by_text(f"{EMAIL}を削除しました。")).to_be_visible()
    expect(row).to_have_count(0)
