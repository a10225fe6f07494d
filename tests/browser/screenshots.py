"""Takes the screenshots in docs/images from a running demo (`make screenshots`)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page, ViewportSize

from tests.browser.api_page import authorize, execute, expand_operation
from tests.browser.chromium import start_chromium
from tests.demo.demo_process import DemoProcess, start_demo

IMAGES = Path(__file__).parents[2] / "docs" / "images"
VIEWPORT: ViewportSize = {"width": 1280, "height": 860}
MARGIN = 12
PORT = 8080  # as in the README
READY_MILLISECONDS = 60_000


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    refuse_without_japanese_font()
    with (
        tempfile.TemporaryDirectory() as folder,
        start_demo(Path(folder), port=PORT) as demo,
        start_chromium() as browser,
    ):
        page = browser.new_page(viewport=VIEWPORT, device_scale_factor=1.5)
        page.set_default_timeout(READY_MILLISECONDS)
        take_api_page(page, demo)
        take_api_response(page, demo)


def refuse_without_japanese_font() -> None:
    command = ["fc-list", ":lang=ja"]
    if not subprocess.run(command, capture_output=True, check=False).stdout:
        sys.exit("Screenshots need a Japanese font (Debian and Ubuntu: fonts-noto-cjk).")


def take_api_page(page: Page, demo: DemoProcess) -> None:
    """The token endpoints are collapsed so that more of the page is visible."""
    page.goto(f"{demo.address}/docs")
    page.locator(".opblock").first.wait_for()
    page.get_by_text("Tokens and sessions").click()
    save(page.screenshot(), "api-page.png")


def take_api_response(page: Page, demo: DemoProcess) -> None:
    authorize(page, demo.token())
    response = execute(expand_operation(page, "get", "/m/core/billinggroup"))
    response.wait_for()
    save(page.screenshot(full_page=True, clip=add_margin(response)), "api-answer.png")


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


def save(image: bytes, name: str) -> None:
    (IMAGES / name).write_bytes(image)
    print(IMAGES / name)


if __name__ == "__main__":
    main()
