"""Starts the installed Chromium and records the problems of a page."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Playwright,
    Request,
    sync_playwright,
)

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Chromium without what a screen needs and without its viewer of PDF files; a sixth less work.
FAST_PROGRAM_NAME = "chromium-headless-shell"
SKIP_REASON = "no chromium on this machine"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Without the compiler that optimises most: it takes longer than it saves where pages are shown for
# a moment. The middle one saves a fifth of the work of axe.
FLAGS_FOR_SHORT_VISITS = ["--js-flags=--no-turbofan"]
# What a page shows while it waits for data.
LOADING = "[aria-busy=true], [class*=awsui_spinner_], [class*=awsui_skeleton_]"
# Runs in the page: content security policy violations are events there, and not always logged.
RECORD_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


# Japanese text needs a Japanese font, which test machines often lack: use that of the invoices.
FONT_CONFIGURATION = """<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{folder}</dir>
  <cachedir>{cache}</cachedir>
</fontconfig>
"""


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAM_NAMES)), None)


@dataclass(frozen=True)
class BrowserDriver:
    """Starts installed browsers; Playwright downloads none."""

    playwright: Playwright
    environment: Mapping[str, str]

    @contextmanager
    def start_browser(
        self, *, with_pdf_viewer: bool = False, for_short_visits: bool = False
    ) -> Iterator[Browser]:
        program = find_chromium()
        if not with_pdf_viewer:
            program = shutil.which(FAST_PROGRAM_NAME) or program
        browser = self.playwright.chromium.launch(
            executable_path=program,
            args=[*FLAGS, *(FLAGS_FOR_SHORT_VISITS if for_short_visits else ())],
            env={**self.environment},
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def start_driver() -> Iterator[BrowserDriver]:
    """There can be one at a time, because it runs an event loop."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        fonts = str(write_font_configuration(Path(folder)))
        yield BrowserDriver(playwright, {**os.environ, "FONTCONFIG_FILE": fonts})


@contextmanager
def start_chromium(*, with_pdf_viewer: bool = False) -> Iterator[Browser]:
    with (
        start_driver() as driver,
        driver.start_browser(with_pdf_viewer=with_pdf_viewer) as browser,
    ):
        yield browser


def write_font_configuration(folder: Path) -> Path:
    """Adds the font of the invoices to those of the system."""
    fonts = files("nimbill.invoicing.pdf") / "fonts"
    configuration = folder / "fonts.conf"
    configuration.write_text(FONT_CONFIGURATION.format(folder=fonts, cache=folder / "cache"))
    return configuration


@dataclass
class RecordedPage:
    """A page with the errors, warnings and request origins that it caused."""

    page: Page
    errors: list[str] = field(default_factory=list)
    origins: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.add_init_script(RECORD_VIOLATIONS)
        self.page.on("console", self._record_message)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._record_request)
        self.page.on("requestfailed", self._record_failure)

    def _record_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(f"{message.text} {message.location.get('url', '')}".strip())

    def _record_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss"):  # not data, blobs and the PDF viewer
            self.origins.add(f"{parts.scheme}://{parts.netloc}")

    def _record_failure(self, request: Request) -> None:
        """A request that the page itself gave up, as when it is left, is no error."""
        if request.failure != "net::ERR_ABORTED":
            self.errors.append(request.url)

    def forget(self) -> None:
        """Start again with a window that another test uses."""
        self.errors.clear()
        self.origins.clear()

    def violations(self) -> list[str]:
        violations: list[str] = self.page.evaluate("window.violations")
        return violations
