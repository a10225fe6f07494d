"""Actions on the API page, for tests and screenshots."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Locator, Page


def authorize(page: Page, token: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".modal-ux")
    dialog.locator("input").fill(token)
    dialog.get_by_role("button", name=re.compile("apply credentials", re.IGNORECASE)).click()
    dialog.get_by_role("button", name="Close").first.click()


def expand_operation(page: Page, method: str, path: str) -> Locator:
    summary = page.locator(f".opblock-summary-path[data-path={json.dumps(path)}]")
    block = page.locator(f".opblock-{method}", has=summary)
    block.locator(".opblock-summary-control").click()
    return block


def execute(block: Locator) -> Locator:
    """Send the request of an expanded operation; return the table with the response."""
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table")
