"""People: a clerk sees certain customers only, a role changes, somebody is invited."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import SampleReseller
from tests.browser.windows import Windows, WindowType
from tests.mail.outbox_messages import find_link, read_outbox


def create_role(reseller: SampleReseller, name: str, *permissions: str) -> None:
    body = {"name": name, "namespace": "core", "permissions": permissions}
    with reseller.api() as api:
        assert api.post("/auth/rbac/roles", json=body).is_success


def test_a_clerk_gets_access_to_two_customers_only(
    console: Console, open_console: OpenConsole, reseller: SampleReseller
) -> None:
    create_role(reseller, "invoice-reader", "ReadInvoice", "ReadBillingGroup")
    page = console.page
    console.open("/people")
    page.get_by_role("button", name="ユーザーを追加").first.click()

    page.get_by_role("textbox", name="ユーザー名").fill("tanaka")
    page.get_by_role("textbox", name="パスワード").fill("himitsu-1234")
    page.get_by_role("button", name="ロール").last.click()
    page.get_by_role("option").filter(has_text="invoice-reader").click()
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="一部の顧客のみ").check()
    page.get_by_role("button", name="対象の顧客").click()
    for name in ("さくら商事", "山手フーズ"):
        page.get_by_role("option").filter(has_text=name).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="追加する").click()

    expect(page.get_by_role("heading", level=1, name="tanaka")).to_be_visible()
    expect(page.get_by_role("link", name="さくら商事")).to_be_visible()
    expect(page.get_by_role("link", name="みなと物流")).to_have_count(0)
    expect(page.get_by_text("請求書と月次の状況を閲覧できる")).to_be_visible()
    console.check_accessibility()
    clerk = open_console(reseller, username="tanaka", password="himitsu-1234")
    clerk.open("/invoices/2026-08?vendor=aws")
    expect(clerk.page.get_by_text("山手フーズ").first).to_be_visible()
    expect(clerk.page.get_by_text("みなと物流")).to_have_count(0)
    for page_name in ("月次", "ユーザー", "設定"):
        expect(clerk.page.get_by_role("link", name=page_name, exact=True)).to_have_count(0)

    clerk.expected_refusals.add(403)
    clerk.open("/people")
    expect(clerk.page.get_by_text("この操作を行う権限がありません。")).to_be_visible()


def test_two_people_who_change_a_role_see_both_versions(
    console: Console, reseller: SampleReseller
) -> None:
    create_role(reseller, "project-reader", "ReadProject")
    page = console.page
    console.open("/roles/project-reader")
    page.get_by_role("checkbox", name="プロジェクトの作成・変更ができる").check()
    with reseller.api() as api:
        change = {"permissions": ["ReadProject", "ReadCost"]}
        assert api.patch("/auth/rbac/roles/core/project-reader", json=change).is_success

    page.get_by_role("button", name="保存", exact=True).click()

    dialog = page.get_by_role("dialog").filter(has_text="他の人が変更しました")
    expect(dialog).to_contain_text("費用と取り込みを閲覧できる")
    dialog.get_by_role("button", name="自分の内容で保存").click()
    expect(page.get_by_text("ロールproject-readerを保存しました。")).to_be_visible()
    console.recorded.errors.clear()  # the browser reports the refused request


def test_an_invited_person_chooses_a_password(
    console: Console, windows: Windows, reseller: SampleReseller
) -> None:
    page = console.page
    console.open("/people/new")
    page.get_by_role("textbox", name="ユーザー名").fill("shotai.h")
    page.get_by_role("textbox", name="メールアドレス - 任意").fill("shotai@example.com")
    expect(page.get_by_role("checkbox", name="招待メールを送る")).to_be_checked()
    expect(page.get_by_role("textbox", name="パスワード")).to_have_count(0)
    page.get_by_role("button", name="追加する").click()
    expect(page.get_by_role("heading", level=1, name="shotai.h")).to_be_visible()

    (message,) = read_outbox(
        reseller.server.data, reseller.organisation_id, to="shotai@example.com"
    )
    parts = urlsplit(find_link(message))
    with windows.open(WindowType("ja")) as recorded:
        invited = recorded.page
        invited.goto(f"{reseller.server.url}{parts.path}#{parts.fragment}")
        invited.get_by_label("新しいパスワード", exact=True).fill("erabu-1234")
        invited.get_by_label("新しいパスワード（確認）").fill("erabu-1234")
        invited.get_by_role("button", name="パスワードを設定").click()
        expect(invited.get_by_text("新しいパスワードを設定しました。")).to_be_visible()
        invited.get_by_label("ユーザー名").fill("shotai.h")
        invited.get_by_label("パスワード").fill("erabu-1234")
        invited.keyboard.press("Enter")
        expect(invited.get_by_role("button", name="shotai.h")).to_be_visible()
