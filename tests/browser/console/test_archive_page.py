"""The archive: somebody finds documents by amount and customer, and exports them."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from nimbill.issuing.archive.archive_verification import verify_archive
from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import CLOSED_MONTH, SampleReseller


def test_documents_are_found_and_exported(
    console: Console, reseller: SampleReseller, tmp_path: Path
) -> None:
    page = console.page
    name = next(iter(reseller.companies))
    number = f"{CLOSED_MONTH.replace('-', '')}-"

    console.open("/archive")
    rows = page.get_by_role("row").filter(has_text=number)
    expect(rows.first).to_be_visible()
    everything = rows.count()
    page.get_by_role("searchbox", name="金額（下限）").fill("999,999,999")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(0)
    page.get_by_role("searchbox", name="金額（下限）").fill("")
    expect(rows).to_have_count(everything)
    page.get_by_role("searchbox", name="顧客").fill(name)
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1)

    with page.expect_download() as download:
        page.get_by_role("button", name="署名付きで書き出す").click()
    file = tmp_path / "archive.zip"
    download.value.save_as(file)

    report = verify_archive(file)
    assert report.intact
    assert report.manifest.documents == 1
    assert report.audit_rows > 0
