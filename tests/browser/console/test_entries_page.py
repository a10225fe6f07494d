"""The page of one-off entries: an undecided entry is applied and taken back."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import OPEN_MONTH


def test_an_entry_is_applied_and_taken_back(console: Console) -> None:
    page = console.page
    console.open(f"/entries?month={OPEN_MONTH}&vendor=aws")
    console.check_accessibility()
    page.get_by_role("button", name="適用：a promotion").click()
    page.get_by_role("dialog").get_by_role("button", name="適用").click()
    expect(page.get_by_text("調整項目1件を2026年9月に適用しました。")).to_be_visible()

    console.open(f"/entries?month={OPEN_MONTH}&vendor=aws&show=applied")
    page.get_by_role("button", name="取り消す：a promotion").click()
    page.get_by_role("dialog").get_by_role("button", name="取り消す").click()
    expect(page.get_by_text("の適用を取り消しました。")).to_be_visible()
