"""The pages of imports: what is wrong with a file, and releasing an import that is on hold."""

from __future__ import annotations

from playwright.sync_api import FilePayload, expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import SampleReseller, import_month
from tests.imports.aws_reports import build_report, report_line

PARKED_MONTH = "2025-02"  # too early to be compared with the months of other tests


def test_a_file_that_is_no_cost_file_is_refused_with_its_line(console: Console) -> None:
    page = console.page
    console.open("/imports")
    expect(page.get_by_role("link", name="1件のアカウントが請求グループ")).to_be_visible()
    console.check_accessibility()

    file: FilePayload = {"name": "notes.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}
    page.locator("input[type=file]").set_input_files(files=[file])
    page.get_by_role("button", name="取り込みを開始").click()
    expect(page.get_by_text("取り込みを開始しました。")).to_be_visible()
    page.get_by_role("link", name="取り込みを見る").click()
    expect(page.get_by_text("取り込めませんでした")).to_be_visible()
    expect(page.get_by_text("ファイル notes.csv, 1行目")).to_be_visible()
    console.check_accessibility()


def test_an_import_on_hold_is_released_for_a_reason(
    console: Console, reseller: SampleReseller
) -> None:
    line = report_line(
        "-5",
        UsageStartDate=f"{PARKED_MONTH}-05T10:00:00Z",
        BillingPeriodStartDate=f"{PARKED_MONTH}-01T00:00:00Z",
    )
    with reseller.api() as api:
        parked = import_month(api, PARKED_MONTH, build_report([line]), expected_state="parked")
    page = console.page
    console.open(f"/imports/{parked}")
    expect(page.get_by_text("この取り込みは保留中です")).to_be_visible()
    expect(page.get_by_text("の利用料がマイナスです。").first).to_be_visible()
    page.get_by_role("button", name="保留を解除").click()
    dialog = page.get_by_role("dialog")
    release = dialog.get_by_role("button", name="保留を解除")
    dialog.get_by_label("理由").fill("ベンダーに確認済み")
    expect(release).to_be_disabled()
    dialog.get_by_label(f"確認のため {PARKED_MONTH} と入力").fill(PARKED_MONTH)
    console.check_accessibility()
    release.click()
    expect(page.get_by_text("の取り込みの保留を解除し、反映しています。")).to_be_visible()
    expect(page.get_by_text("この取り込みは保留中です")).to_have_count(0)
