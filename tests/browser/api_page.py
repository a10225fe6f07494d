"""Actions on the API page, for tests and screenshots."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from playwright.sync_api import Locator, Page

SETTLE_MILLISECONDS = 50
PASSES_MAX = 5
SHOWN_OPERATIONS = """
[...document.querySelectorAll(".opblock-summary")].map((summary) => [
    summary.querySelector(".opblock-summary-method").textContent,
    summary.querySelector("[data-path]").dataset.path,
])
"""


def authorize(page: Page, token: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".modal-ux")
    dialog.locator("input").fill(token)
    dialog.get_by_role("button", name=re.compile("apply credentials", re.IGNORECASE)).click()
    dialog.get_by_role("button", name="Close").first.click()


def expand_operation(page: Page, method: str, path: str) -> Locator:
    """Expand an operation; the page shows only operations near the visible part."""
    summary = page.locator(f".opblock-summary-path[data-path={json.dumps(path)}]")
    block = page.locator(f".opblock-{method}", has=summary)
    for _ in scroll_down(page):
        if block.count():
            break
    block.locator(".opblock-summary-control").click()
    return block


def list_operations(page: Page, *, count: int) -> set[tuple[str, str]]:
    """List method and path of all operations, of which there should be this many."""
    operations: set[tuple[str, str]] = set()
    for _ in scroll_down(page):
        operations |= {(method.lower(), path) for method, path in page.evaluate(SHOWN_OPERATIONS)}
        if len(operations) == count:
            break
    return operations


def scroll_down(page: Page) -> Iterator[None]:
    """Scroll from the top to the end of the page, half a screen at a time.

    Again, if the caller has not found everything: a busy machine shows an operation late.
    """
    for _ in range(PASSES_MAX):
        page.evaluate("scrollTo(0, 0)")
        before = -1
        while (position := page.evaluate("scrollY")) != before:
            page.wait_for_timeout(SETTLE_MILLISECONDS)
            yield
            before = position
            page.evaluate("scrollBy(0, innerHeight / 2)")


def execute(block: Locator) -> Locator:
    """Send the request of an expanded operation; return the table with the response."""
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table")
