"""Takes pictures of every web page of a running demo (`make screenshots`).

Pictures for the documentation go to docs/images; every page of the console in two languages, light
and dark, wide and narrow, goes to build/screenshots, to be looked at.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import httpx
from playwright.sync_api import Browser, FloatRect, Locator, Page, ViewportSize

from nimbill.demo.monthly_data import LAST_CLOSED_MONTH, OPEN_MONTH
from tests.browser.api_page import authorize, execute, expand_operation
from tests.browser.chromium import start_chromium
from tests.demo.demo_process import DemoProcess, start_demo

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SCREENSHOTS = ROOT / "build" / "screenshots"
VIEWPORT: ViewportSize = {"width": 1280, "height": 860}
WIDTHS = {"wide": 1440, "narrow": 700}
LANGUAGES = ("ja", "en")
THEMES = ("light", "dark")
MARGIN = 12
PORT = 8080  # as in the README
READY_MILLISECONDS = 60_000
SETTLE_MILLISECONDS = 1_500
# The pages that the README shows.
DOCUMENTED = {
    "month": "console-month.png",
    "invoice": "console-invoice.png",
    "terms": "console-terms.png",
}


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        start_demo(Path(folder), port=PORT) as demo,
        start_chromium() as browser,
    ):
        page = browser.new_page(viewport=VIEWPORT, device_scale_factor=1.5)
        page.set_default_timeout(READY_MILLISECONDS)
        take_api_page(page, demo)
        take_api_response(page, demo)
        page.close()
        for variant in product(LANGUAGES, THEMES, WIDTHS):
            take_console(browser, demo, *variant)


def list_console_pages(demo: DemoProcess) -> Mapping[str, str]:
    """The path of each page, by the name of its picture."""
    headers = {"Authorization": f"Bearer {demo.token()}"}
    groups = httpx.get(f"{demo.address}/m/core/billinggroup", headers=headers).json()
    company = groups[0]["company_id"]
    return {
        "month": f"/months/{OPEN_MONTH}/aws",
        "closed-month": f"/months/{LAST_CLOSED_MONTH}/aws",
        "checks": f"/checks/{OPEN_MONTH}/aws",
        "invoices": f"/invoices/{OPEN_MONTH}",
        "invoice": f"/invoices/{OPEN_MONTH}/{company}/aws",
        "customers": "/customers",
        "customer": f"/customers/{company}",
        "terms": f"/customers/{company}/terms/aws",
        "accounts": "/accounts",
        "imports": "/imports",
        "entries": f"/entries?month={OPEN_MONTH}&vendor=aws",
        "reservations": "/reservations",
        "projects": "/projects",
        "templates": "/templates",
        "people": "/people",
        "api-clients": "/api-clients",
        "audit": "/audit",
        "settings": "/settings",
    }


def take_console(browser: Browser, demo: DemoProcess, language: str, theme: str, size: str) -> None:
    """Sign in once, then open every page."""
    context = browser.new_context(
        viewport={"width": WIDTHS[size], "height": 900}, locale=language, timezone_id="Asia/Tokyo"
    )
    page = context.new_page()
    page.set_default_timeout(READY_MILLISECONDS)
    page.add_init_script(
        f"localStorage.setItem('nimbill-theme', '{theme}');"
        "localStorage.setItem('nimbill-session-core', 'open');"
    )
    page.goto(f"{demo.address}/console")
    sign_in = page.screenshot()
    save(sign_in, SCREENSHOTS / f"sign-in-{language}-{theme}-{size}.png")
    login = {
        "organisation": demo.login["organisation_id"],
        "username": demo.login["username"],
        "password": demo.login["password"],
    }
    assert context.request.post(f"{demo.address}/core/session", data=login).ok
    for name, picture in take_pages(page, demo):
        save(picture, SCREENSHOTS / f"{name}-{language}-{theme}-{size}.png")
        if (language, theme, size) == ("ja", "light", "wide") and name in DOCUMENTED:
            save(picture, IMAGES / DOCUMENTED[name])
    context.close()


def take_pages(page: Page, demo: DemoProcess) -> Iterator[tuple[str, bytes]]:
    for name, path in list_console_pages(demo).items():
        page.goto(f"{demo.address}/console{path}")
        page.get_by_role("heading", level=1).first.wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(SETTLE_MILLISECONDS)
        yield name, page.screenshot(full_page=True)


def take_api_page(page: Page, demo: DemoProcess) -> None:
    """The token endpoints are collapsed so that more of the page is visible."""
    page.goto(f"{demo.address}/docs")
    page.locator(".opblock").first.wait_for()
    page.get_by_text("Tokens and sessions").click()
    save(page.screenshot(), IMAGES / "api-page.png")


def take_api_response(page: Page, demo: DemoProcess) -> None:
    authorize(page, demo.token())
    response = execute(expand_operation(page, "get", "/m/core/billinggroup"))
    response.wait_for()
    save(page.screenshot(full_page=True, clip=add_margin(response)), IMAGES / "api-answer.png")


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


def save(image: bytes, file: Path) -> None:
    file.write_bytes(image)
    print(file)


if __name__ == "__main__":
    main()
