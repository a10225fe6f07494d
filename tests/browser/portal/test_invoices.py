"""A customer reads and downloads its invoices, also those that were replaced or credited."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.console.sample_reseller import (
    CLOSED_MONTH,
    OPEN_MONTH,
    bill_month,
    create_reseller,
)
from tests.browser.portal.conftest import PHONE, WIDE, OpenPortal, sign_in
from tests.browser.portal.sample_customer import (
    EMAIL,
    SampleCustomer,
    create_login,
    find_foreign,
    send,
)
from tests.browser.windows import Windows
from tests.invoicing.pdf.pdf_text import extract_text
from tests.proof.real_server import RealServer

FLAGS = {"invoice": True, "invoice_download_csv_discount": True}


@pytest.fixture(scope="module")
def receiver(console_server: RealServer) -> SampleCustomer:
    """The invoice of the closed month is credited in full, that of the open month replaced."""
    reseller = create_reseller(console_server, "Replacer")
    company = reseller.companies["BG-0001"]
    closed, opened = (
        f"/core/invoices/{month}/{company}/aws" for month in (CLOSED_MONTH, OPEN_MONTH)
    )
    with reseller.api() as api:
        create_login(api, company, EMAIL, FLAGS)
        send(api, "PUT", f"{closed}/sent", {"revision": 1})
        send(api, "POST", f"{closed}/credit-notes", {"kind": "full", "reason": "全額返還"})
        bill_month(api, OPEN_MONTH, [company])
        send(api, "PUT", f"{opened}/sent", {"revision": 1})
        send(api, "POST", f"{opened}/replacement", {"reason": "社外秘の理由"})
        send(api, "PUT", f"{opened}/sent", {"revision": 2})
    return SampleCustomer(reseller, company)


@pytest.fixture
def windows(pdf_windows: Windows) -> Windows:
    return pdf_windows


def test_a_customer_downloads_an_invoice(open_portal: OpenPortal) -> None:
    portal = open_portal()
    portal.open("/invoices")
    page = portal.page
    page.get_by_role("link", name="2026年8月 AWS").click()
    page.wait_for_url(f"**/invoices/{CLOSED_MONTH}/aws")
    expect(page.locator("iframe[title$='の印刷イメージ']")).to_be_visible()

    with page.expect_download() as pdf:
        page.get_by_role("button", name="PDF").click()
    with page.expect_download() as lines:
        page.get_by_role("button", name="割引明細（CSV）").click()

    assert pdf.value.suggested_filename.endswith(".pdf")
    assert lines.value.suggested_filename.endswith("-aws-discount.csv")
    printed = extract_text(pdf.value.path().read_bytes())
    assert "さくら商事" in printed
    assert find_foreign(printed + lines.value.path().read_text()) == []


def test_the_customer_sees_which_invoice_replaces_which(
    windows: Windows, receiver: SampleCustomer
) -> None:
    with sign_in(windows, receiver, EMAIL, "ja", WIDE) as portal:
        page = portal.page
        portal.open("/invoices")
        new = page.get_by_role("row").filter(has_text="2026年9月")
        expect(new).to_contain_text("発行済み")
        expect(new).to_contain_text("の差し替え")
        expect(page.get_by_role("row").filter(has_text="2026年8月")).to_contain_text("全額返還済み")
        portal.check_accessibility()

        new.get_by_role("link").click()
        notice = page.get_by_text("この請求書は以前の請求書を差し替えたものです。")
        expect(notice).to_be_visible()
        expect(
            page.get_by_text("差し替え前の請求書はお支払いにならないでください。")
        ).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("button", name="（CSV）").first.click()
        headings = download.value.path().read_text(encoding="utf-8-sig").splitlines()[0]
        assert headings.startswith("請求グループID,請求グループ名,企業名")
        portal.check_in_both_languages()
        expect(page.get_by_text("This invoice replaces an earlier one.")).to_be_visible()
        portal.check_width(PHONE)
        assert "社外秘の理由" not in portal.read_everything()
