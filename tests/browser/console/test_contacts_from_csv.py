"""Contacts from a CSV file: the sending page leads there, and then offers the customers."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import CLOSED_MONTH, SampleReseller, create_reseller
from tests.proof.real_server import RealServer

SENDING = f"/sending/{CLOSED_MONTH}/aws"
HEADER = "請求グループID,担当者名,メールアドレス,宛先区分"
SAKURA = "BG-0001,経理部 山田,keiri@sakura.example,To"
YAMATE = "BG-0002,佐藤 花子,sato@yamate.example,"


@pytest.fixture(scope="module")
def sender(console_server: RealServer) -> SampleReseller:
    return create_reseller(console_server, "Contact files")


def upload(page: Page, *lines: str) -> None:
    content = "\r\n".join([HEADER, *lines, ""]).encode("cp932")
    page.locator("input[type=file]").set_input_files(
        {"name": "contacts.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="登録する").click()


def test_customers_without_a_contact_get_one_from_a_file(
    open_console: OpenConsole, sender: SampleReseller
) -> None:
    console = open_console(sender)
    page = console.page
    console.open(SENDING)
    expect(page.get_by_text("請求書の宛先がない顧客が3件あります。")).to_be_visible()
    console.check_accessibility()
    page.get_by_role("link", name="CSVから送付先を追加").click()
    expect(page.get_by_role("heading", name="送付先")).to_be_visible()

    upload(page, SAKURA, "BG-0002,佐藤 様,sato@yamate.example,")
    expect(page.get_by_text("何も登録されませんでした。")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="担当者名")).to_contain_text("敬称")
    # The browser reports the refusal as an error of its own.
    console.recorded.errors.clear()
    console.check_accessibility()

    upload(page, SAKURA, YAMATE)
    expect(page.get_by_text("2行を登録しました。")).to_be_visible()
    page.get_by_role("button", name="送付に戻る").click()

    expect(page.get_by_text("請求書の宛先がない顧客が1件あります。")).to_be_visible()
    for email in ("keiri@sakura.example", "sato@yamate.example"):
        expect(page.get_by_role("row").filter(has_text=email)).to_be_visible()
    expect(page.get_by_role("button", name="2件の請求書を送付")).to_be_enabled()


def test_the_contacts_of_one_customer_lead_back_to_sending(
    open_console: OpenConsole, sender: SampleReseller
) -> None:
    console = open_console(sender)
    page = console.page
    console.open(SENDING)
    row = page.get_by_role("row").filter(has_text="みなと物流")
    row.get_by_role("link", name="請求書の宛先がありません。").click()
    page.get_by_role("link", name="送付に戻る").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("の請求書の送付")


def test_people_who_cannot_change_customers_are_not_led_to_the_file(
    open_console: OpenConsole, sender: SampleReseller
) -> None:
    permissions = ["ModifyInvoice", "ReadBillingGroup"]
    with sender.api() as api:
        role = {"name": "sender", "namespace": "core", "permissions": permissions}
        assert api.post("/auth/rbac/roles", json=role).is_success
        person = {"username": "okuri", "password": "correct horse 9"}
        created = api.post("/u/users", json=person | {"notification": {"email": "false"}})
        mapping = {
            "user_id": created.json()["user_id"],
            "roles": [{"namespace": "core", "role": "sender"}],
            "filters": [],
        }
        assert api.post("/auth/rbac/userroles", json=mapping).is_success
    console = open_console(sender, username="okuri", password="correct horse 9")

    console.open(SENDING)

    row = console.page.get_by_role("row").filter(has_text="みなと物流")
    expect(row).to_contain_text("請求書の宛先がありません。")
    expect(console.page.get_by_role("link", name="CSVから送付先を追加")).to_have_count(0)


def test_the_import_page_has_contacts_as_its_third_kind(console: Console) -> None:
    page = console.page
    console.open("/customers/import")
    expect(page.get_by_role("heading", name="3. 送付先")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="ひな形をダウンロード").last.click()

    header, *_ = download.value.path().read_text("utf-8-sig").splitlines()
    assert header == "billinggroup_id,name,email,send_as,language,receives_invoices"
