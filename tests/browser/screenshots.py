"""Takes the pictures of docs/images from a running demo: `make screenshots`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page, ViewportSize

from tests.browser.chromium import chromium
from tests.demo.running_demo import Demo, running_demo

IMAGES = Path(__file__).parents[2] / "docs" / "images"
WIDE: ViewportSize = {"width": 1280, "height": 860}
MARGIN = 12
PORT = 8080  # as in the README
READY_MILLISECONDS = 30_000


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    refuse_without_japanese_font()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_demo(Path(folder), port=PORT) as demo,
        chromium() as browser,
    ):
        page = browser.new_page(viewport=WIDE, device_scale_factor=1.5)
        page.set_default_timeout(READY_MILLISECONDS)
        api_page(page, demo)
        api_answer(page, demo)


def refuse_without_japanese_font() -> None:
    line = ["fc-list", ":lang=ja"]
    if not subprocess.run(line, capture_output=True, check=False).stdout:
        sys.exit("the pictures need a Japanese font (Debian and Ubuntu: fonts-noto-cjk)")


def api_page(page: Page, demo: Demo) -> None:
    """What one meets first; the token endpoints are folded to make room for the rest."""
    page.goto(f"{demo.address}/docs")
    page.locator(".opblock").first.wait_for()
    page.get_by_text("Tokens and sessions").click()
    save(page.screenshot(), "api-page.png")


def api_answer(page: Page, demo: Demo) -> None:
    """A call tried on the page, and its answer."""
    authorize(page, demo.token())
    block = unfolded(page, "/m/core/billinggroup")
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    answer = block.locator(".live-responses-table")
    answer.wait_for()
    save(page.screenshot(full_page=True, clip=around(answer)), "api-answer.png")


def around(shown: Locator) -> FloatRect:
    """The element with a margin, measured on the whole page."""
    box = shown.evaluate(
        "it => { const box = it.getBoundingClientRect();"
        " return [box.x + scrollX, box.y + scrollY, box.width, box.height]; }"
    )
    x, y, width, height = box
    return {
        "x": x - MARGIN,
        "y": y - MARGIN,
        "width": width + 2 * MARGIN,
        "height": height + 2 * MARGIN,
    }


def authorize(page: Page, token: str) -> None:
    page.get_by_role("button", name="Authorize").first.click()
    asked = page.locator(".modal-ux")
    asked.locator("input").fill(token)
    asked.get_by_role("button", name="Apply credentials").click()
    asked.get_by_role("button", name="Close").first.click()


def unfolded(page: Page, path: str) -> Locator:
    named = page.locator(f".opblock-summary-path[data-path={json.dumps(path)}]")
    block = page.locator(".opblock-get", has=named)
    block.locator(".opblock-summary-control").click()
    return block


def save(picture: bytes, name: str) -> None:
    (IMAGES / name).write_bytes(picture)
    print(IMAGES / name)


if __name__ == "__main__":
    main()
