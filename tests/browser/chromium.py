"""Starts the installed Chromium and records the problems of a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome")
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
# Runs in the page: content security policy violations are events there, and not always logged.
RECORD_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAM_NAMES)), None)


@contextmanager
def start_chromium() -> Iterator[Browser]:
    """Uses the installed browser; Playwright downloads none."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


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
        self.page.on("requestfailed", lambda request: self.errors.append(request.url))

    def _record_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _record_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data":
            self.origins.add(f"{parts.scheme}://{parts.netloc}")

    def violations(self) -> list[str]:
        violations: list[str] = self.page.evaluate("window.violations")
        return violations
