"""The accounts page: an account that belongs to nobody gets its customer."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import OpenConsole
from tests.browser.console.sample_reseller import OPEN_MONTH, UNKNOWN_ACCOUNT, create_reseller
from tests.proof.real_server import RealServer


def test_an_unknown_account_is_assigned_from_the_month_page(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    console = open_console(create_reseller(console_server, "Accounts"))
    page = console.page
    console.open(f"/months/{OPEN_MONTH}/aws")
    page.get_by_role("button", name="アカウントを割り当てる").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("未割り当てのアカウント")
    console.check_accessibility()

    page.get_by_role("button", name=f"{UNKNOWN_ACCOUNT}の顧客を選択").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="顧客を選択").click()
    page.get_by_role("option").filter(has_text="みなと物流").click()
    expect(dialog.get_by_text("AWSの請求条件がありません")).to_have_count(0)
    dialog.get_by_label("アカウントの名前").fill("みなと物流 検証")
    dialog.get_by_role("button", name="割り当てる").click()
    expect(page.get_by_text("アカウント1件を「みなと物流」に割り当てました。")).to_be_visible()

    console.open(f"/accounts?search={UNKNOWN_ACCOUNT}")
    expect(page.get_by_role("row").filter(has_text="みなと物流 検証")).to_be_visible()
    console.check_accessibility()


def test_a_customer_without_terms_gets_a_warning(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    reseller = create_reseller(console_server, "Without terms")
    group = {
        "billinggroup_id": "BG-0004",
        "billinggroup_name": "あさぎり学園",
        "company_name": "学校法人あさぎり学園",
        "inv_aggregate": True,
    }
    with reseller.api() as api:
        assert api.post("/core/billinggroup", json=group).is_success
    console = open_console(reseller)
    page = console.page
    console.open(f"/accounts?unassigned=true&vendor=aws&month={OPEN_MONTH}")
    page.get_by_role("button", name=f"{UNKNOWN_ACCOUNT}の顧客を選択").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="顧客を選択").click()
    page.get_by_role("option").filter(has_text="あさぎり学園").click()
    expect(dialog).to_contain_text("あさぎり学園にはAWSの請求条件がありません")
    expect(dialog.get_by_role("link", name="請求条件を設定する")).to_be_visible()
    console.check_accessibility()
