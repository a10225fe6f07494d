"""Webhook endpoints: adding one, its secret, its deliveries, sending again, deleting it."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console

URL = "https://receiver.invalid/nimbill"  # no name server knows it


def test_an_endpoint_is_added_tried_rotated_and_deleted(console: Console) -> None:
    page = console.page
    console.open("/webhooks")
    page.get_by_role("button", name="エンドポイントを追加").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="URL").fill(URL)
    dialog.get_by_role("textbox", name="用途").fill("会計システム")
    dialog.get_by_role("button", name="追加", exact=True).click()
    expect(page.get_by_role("button", name="シークレットをコピー")).to_be_visible()
    expect(page.get_by_text("whsec_")).to_be_visible()
    page.get_by_role("button", name="シークレットを保管しました").click()
    expect(page.get_by_role("row").filter(has_text="会計システム")).to_contain_text("有効")
    console.check_accessibility()

    page.get_by_role("link", name=URL).click()
    page.get_by_role("button", name="テストイベントを送信").click()
    row = page.get_by_role("row").filter(has_text="テストイベント")
    expect(row).to_contain_text("ホスト名が見つかりません")
    row.get_by_role("button", name="再送信").click()
    expect(page.get_by_text("イベントを再送信しています。")).to_be_visible()
    console.check_accessibility()

    page.get_by_role("button", name="シークレットを再発行").click()
    page.get_by_role("dialog").get_by_role("button", name="作成", exact=True).click()
    expect(page.get_by_text("旧シークレットでも署名します。")).to_be_visible()
    page.get_by_role("button", name="シークレットを保管しました").click()

    page.get_by_role("button", name="失敗分を再送信").click()
    page.get_by_role("dialog").get_by_role("button", name="再送信", exact=True).click()
    expect(page.get_by_text("再送信する失敗イベント: 0件")).to_be_visible()

    page.get_by_role("button", name="編集", exact=True).click()
    page.get_by_role("dialog").get_by_role("checkbox", name="有効").uncheck()
    page.get_by_role("dialog").get_by_role("button", name="保存", exact=True).click()
    expect(page.get_by_text("無効", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="テストイベントを送信")).to_be_disabled()

    page.get_by_role("button", name="削除", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="削除", exact=True).click()
    expect(page.get_by_text("エンドポイントはありません")).to_be_visible()


def test_an_address_that_is_not_public_is_refused(console: Console) -> None:
    page = console.page
    console.expected_refusals.add(400)
    console.open("/webhooks")
    page.get_by_role("button", name="エンドポイントを追加").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="URL").fill("https://10.0.0.1/")

    dialog.get_by_role("button", name="追加", exact=True).click()

    expect(dialog.get_by_text("インターネット上のサーバーのhttpsアドレス").first).to_be_visible()
    console.recorded.errors.clear()  # the browser reports the refused request
