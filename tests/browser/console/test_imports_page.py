"""The imports page: a file is uploaded, and the page says what is wrong with it."""

from __future__ import annotations

from playwright.sync_api import FilePayload, expect

from tests.browser.console.conftest import Console


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
