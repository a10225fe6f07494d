"""Invoice templates: one is created beside its preview, given to a customer, and deleted."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import SampleReseller
from tests.browser.windows import Windows


@pytest.fixture
def windows(pdf_windows: Windows) -> Windows:
    return pdf_windows


def test_a_template_is_previewed_and_saved(console: Console) -> None:
    page = console.page
    console.open("/templates/new")
    expect(page.get_by_text("テンプレート名と発行者を入力すると")).to_be_visible()
    page.get_by_label("テンプレート名").fill("支店用")
    page.get_by_label("発行者", exact=True).fill("株式会社あおぞら 大阪支店")
    expect(page.get_by_title("請求書のプレビュー")).to_be_visible()
    console.check_accessibility()
    page.get_by_role("button", name="テンプレートを保存").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("支店用")

    console.open("/templates")
    row = page.get_by_role("row").filter(has_text="支店用")
    expect(row).to_contain_text("株式会社あおぞら 大阪支店")
    console.check_accessibility()


def test_a_template_in_use_is_kept(console: Console, reseller: SampleReseller) -> None:
    with reseller.api() as api:
        template = {"name": "営業所用", "company": "株式会社あおぞら"}
        created = api.post("/core/invoicetemplate", json=template).json()["invoice_template_id"]
    page = console.page
    console.open(f"/templates/{created}")
    page.get_by_label("別の顧客にこのテンプレートを使う").click()
    page.get_by_role("option", name="株式会社みなと物流").click()
    page.get_by_role("button", name="割り当てる").click()
    expect(page.get_by_role("link", name="みなと物流")).to_be_visible()

    page.get_by_role("button", name="削除").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("確認のため").fill("営業所用")
    dialog.get_by_role("button", name="削除").click()
    console.expected_refusals.add(409)
    refusal = "このテンプレートは顧客または組織の設定で使用中です。"
    expect(dialog.get_by_role("alert")).to_have_text(refusal)
    console.check_accessibility()
