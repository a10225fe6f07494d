"""Pictures of the API page for the documentation."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, FloatRect, Locator, ViewportSize

from tests.browser.api_page import authorize, execute, expand_operation

VIEWPORT: ViewportSize = {"width": 1280, "height": 860}
MARGIN = 12
READY_MILLISECONDS = 60_000


def take_api_pictures(browser: Browser, address: str, token: str, folder: Path) -> None:
    page = browser.new_page(viewport=VIEWPORT, device_scale_factor=1.5)
    page.set_default_timeout(READY_MILLISECONDS)
    page.goto(f"{address}/docs")
    page.locator(".opblock").first.wait_for()
    # The token endpoints are collapsed so that more of the page is visible.
    page.get_by_text("Tokens and sessions").click()
    page.screenshot(path=folder / "api-page.png")
    authorize(page, token)
    response = execute(expand_operation(page, "get", "/m/core/billinggroup"))
    response.wait_for()
    page.screenshot(path=folder / "api-answer.png", full_page=True, clip=add_margin(response))
    page.close()


def add_margin(element: Locator) -> FloatRect:
    """The rectangle of the element with a margin, in coordinates of the whole page."""
    x, y, width, height = element.evaluate(
        "it => { const box = it.getBoundingClientRect();"
        " return [box.x + scrollX, box.y + scrollY, box.width, box.height]; }"
    )
    return {
        "x": x - MARGIN,
        "y": y - MARGIN,
        "width": width + 2 * MARGIN,
        "height": height + 2 * MARGIN,
    }
