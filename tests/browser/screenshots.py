"""Takes pictures of every web page of the demo (`make screenshots`).

Pictures for the documentation go to docs/images. Every page of the console in two languages, light
and dark, wide and narrow, goes to build/screenshots, to be looked at: one file each, and one sheet
per page with all of them side by side. Names of pages limit it to those
(`make screenshots ARGS="month terms"`); `--demo FOLDER --port PORT` uses a demo that runs already.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Error, FloatRect, Page, ViewportSize

from nimbill.demo.fixtures import FULL_PORTAL, PORTAL_LOGINS
from nimbill.demo.logins import DemoLogin, derive_password, read_logins
from nimbill.demo.monthly_data import MONTHS_MAX
from nimbill.demo.resellers import AOZORA
from nimbill.demo.write_cost_files import CORRECTED_BILLING_GROUP
from tests.browser.api_pictures import take_api_pictures
from tests.browser.chromium import LOADING, start_chromium
from tests.browser.pictured_pages import CONSOLES, NAMES, STAFF, PicturedConsole
from tests.demo.demo_process import start_demo

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SCREENSHOTS = ROOT / "build" / "screenshots"
SIZES: Mapping[str, ViewportSize] = {
    "wide": {"width": 1440, "height": 900},
    "narrow": {"width": 390, "height": 844},
}
LANGUAGES = ("ja", "en")
THEMES = ("light", "dark")
HEIGHT_MAX = 3_000  # long lists repeat themselves
PORT = 8080  # as in the README
DEMO_SECONDS_MAX = 3_600  # more than all pictures take on a busy machine
READY_MILLISECONDS = 60_000
IDLE_MILLISECONDS = 10_000
SETTLE_MILLISECONDS = 400  # charts are drawn after the data arrive
VIEWER_MILLISECONDS = 2_500  # the viewer of PDF files is a page of its own
# The pages that the README shows.
DOCUMENTED = {
    "month": "console-month.png",
    "invoice": "console-invoice.png",
    "terms": "console-terms.png",
}


@dataclass(frozen=True)
class Demo:
    """A running demo and the login of its operator."""

    address: str
    login: DemoLogin

    def build_sign_in(self, console: PicturedConsole) -> dict[str, str]:
        username, password = self.login.username, self.login.password
        if console is not STAFF:
            username = PORTAL_LOGINS[FULL_PORTAL]
            password = derive_password(self.login, username)
        return {
            "organisation": self.login.organisation_id,
            "username": username,
            "password": password,
        }

    @property
    def token(self) -> str:
        form = {
            "grant_type": "client_credentials",
            "client_id": self.login.client_id,
            "client_secret": self.login.client_secret,
        }
        response = httpx.post(f"{self.address}/core/access_token", data=form)
        token: str = response.json()["access_token"]
        return token

    def find_companies(self) -> dict[str, str]:
        """The company_id of each billinggroup_id, in the order of the list."""
        headers = {"Authorization": f"Bearer {self.token}"}
        groups = httpx.get(f"{self.address}/m/core/billinggroup", headers=headers).json()
        return {group["billinggroup_id"]: group["company_id"] for group in groups}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=", ".join(NAMES))
    parser.add_argument("--language", choices=LANGUAGES, help="only this one")
    parser.add_argument("--demo", type=Path, help="folder of a demo that is running")
    parser.add_argument("--port", type=int, default=PORT)
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.pages) - set(NAMES):
        parser.error(f"There is no page {', '.join(sorted(unknown))}. Pages: {', '.join(NAMES)}.")
    IMAGES.mkdir(parents=True, exist_ok=True)
    if not chosen.pages:
        shutil.rmtree(SCREENSHOTS, ignore_errors=True)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with (
        find_demo(chosen.demo, chosen.port) as demo,
        start_chromium(with_pdf_viewer=True) as browser,
    ):
        if not chosen.pages:
            take_api_pictures(browser, demo.address, demo.token, IMAGES)
        pages = chosen.pages or NAMES
        languages = [chosen.language] if chosen.language else LANGUAGES
        for console, language in product(CONSOLES, languages):
            if not set(pages).isdisjoint(console.names):
                take_console(browser, demo, console, language, pages)
        for name in pages:
            write_sheet(browser, name)


@contextmanager
def find_demo(folder: Path | None, port: int) -> Iterator[Demo]:
    """The demo that runs with this folder, or a new one with all its months."""
    if folder is not None:
        yield Demo(f"http://127.0.0.1:{port}", read_login(folder))
        return
    with (
        tempfile.TemporaryDirectory() as temporary,
        start_demo(
            Path(temporary), port=port, months=MONTHS_MAX, seconds_max=DEMO_SECONDS_MAX
        ) as demo,
    ):
        demo.wait_for_all_months()
        yield Demo(demo.address, read_login(demo.folder))


def read_login(folder: Path) -> DemoLogin:
    return read_logins(folder)[AOZORA.english_name]


def take_console(
    browser: Browser, demo: Demo, console: PicturedConsole, language: str, names: Sequence[str]
) -> None:
    """Open each page once; then change its colours and its width."""
    context = browser.new_context(
        viewport=SIZES["wide"],
        locale=language,
        timezone_id="Asia/Tokyo",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(READY_MILLISECONDS)
    page.add_init_script(f"window.localStorage?.setItem('nimbill-language', '{language}');")
    if console.sign_in in names:
        page.goto(f"{demo.address}{console.root}")
        take_variants(page, console.sign_in, language)
    sign_in(page, demo, console)
    for name, path in console.pages.items():
        if name in names:
            page.goto(f"{demo.address}{console.root}{find_path(page, demo, console.root, path)}")
            take_variants(page, name, language)
    context.close()


def sign_in(page: Page, demo: Demo, console: PicturedConsole) -> None:
    response = page.context.request.post(
        f"{demo.address}/{console.product}/session", data=demo.build_sign_in(console)
    )
    assert response.ok, response.text()
    page.add_init_script(
        f"window.localStorage?.setItem('nimbill-session-{console.product}', 'open');"
    )


def find_path(page: Page, demo: Demo, root: str, path: str) -> str:
    if not path.endswith("*"):
        if "{" not in path:
            return path
        companies = demo.find_companies()
        first, corrected = next(iter(companies.values())), companies[CORRECTED_BILLING_GROUP]
        return path.format(company=first, corrected=corrected)
    beginning = path.removesuffix("*")
    if not page.url.endswith(f"{root}{beginning.removesuffix('/')}"):
        page.goto(f"{demo.address}{root}{beginning.removesuffix('/')}")
    link = page.locator(f"main a[href^='{root}{beginning}']:not([href$='/new'])").first
    link.wait_for()
    return (link.get_attribute("href") or "").removeprefix(root)


def take_variants(page: Page, name: str, language: str) -> None:
    page.get_by_role("heading", level=1).first.wait_for()
    wait_until_drawn(page)
    for size, theme in product(SIZES, THEMES):
        page.set_viewport_size(SIZES[size])
        page.evaluate(
            "dark => document.body.classList.toggle('awsui-dark-mode', dark)", theme == "dark"
        )
        page.wait_for_timeout(SETTLE_MILLISECONDS)
        picture = take_whole_page(page)
        save(picture, SCREENSHOTS / f"{name}-{language}-{size}-{theme}.png")
        if (language, size, theme) == ("ja", "wide", "light") and name in DOCUMENTED:
            save(page.screenshot(), IMAGES / DOCUMENTED[name])
    page.set_viewport_size(SIZES["wide"])
    page.wait_for_function("innerWidth > 1000")  # the next page opens wide


def wait_until_drawn(page: Page) -> None:
    """Pages that follow running work keep asking, so the network need not become idle."""
    try:
        page.wait_for_load_state("networkidle", timeout=IDLE_MILLISECONDS)
        page.wait_for_function(
            "loading => [...document.querySelectorAll(loading)].every(it => !it.checkVisibility())",
            arg=LOADING,
            timeout=IDLE_MILLISECONDS,
        )
    except Error as error:
        print(f"{page.url} is still loading: {error.message.splitlines()[0]}")
    if page.locator("iframe").count() > 0:
        page.wait_for_timeout(VIEWER_MILLISECONDS)


def take_whole_page(page: Page) -> bytes:
    """Make the window as high as the page. The viewer of PDF files would become as high, too."""
    size = page.viewport_size or SIZES["wide"]
    height = min(page.evaluate("document.documentElement.scrollHeight"), HEIGHT_MAX)
    if page.locator("iframe").count() > 0:
        clip: FloatRect = {"x": 0, "y": 0, "width": size["width"], "height": height}
        return page.screenshot(full_page=True, clip=clip)
    page.set_viewport_size({"width": size["width"], "height": max(height, size["height"])})
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    picture = page.screenshot()
    page.set_viewport_size(size)
    return picture


SHEET = """<style>
body { margin: 0; background: #888; display: flex; gap: 8px; padding: 8px; align-items: start }
img { display: block; max-width: none }
</style>"""
# Pictures on the sheets are smaller than the pages.
SHEET_WIDTHS = {"wide": 900, "narrow": 300}


def write_sheet(browser: Browser, name: str) -> None:
    """All variants of one page, side by side: a wide and a narrow one for each colour."""
    for language in LANGUAGES:
        if not (SCREENSHOTS / f"{name}-{language}-wide-light.png").is_file():
            continue
        images = "".join(
            f"<img width={SHEET_WIDTHS[size]} src='data:image/png;base64,{encode(file)}'>"
            for theme, size in product(THEMES, SIZES)
            if (file := SCREENSHOTS / f"{name}-{language}-{size}-{theme}.png").is_file()
        )
        page = browser.new_page(viewport={"width": 2440, "height": 400})
        page.set_content(SHEET + images)
        save(page.screenshot(full_page=True), SCREENSHOTS / "sheets" / f"{name}-{language}.png")
        page.close()


def encode(file: Path) -> str:
    return b64encode(file.read_bytes()).decode()


def save(image: bytes, file: Path) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(image)
    print(file.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    main()
