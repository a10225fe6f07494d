"""The system's chromium, and a page of it that remembers everything that went wrong."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
NONE_HERE = "no chromium on this machine"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Kept in the page itself: a violated policy is an event there, whatever the console prints.
NOTE_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
"""


def chromium_path() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Nothing is fetched for it: the one that is installed is used."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page and what a careful person would have seen in its developer tools."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)  # origins

    def __post_init__(self) -> None:
        self.page.add_init_script(NOTE_VIOLATIONS)
        self.page.on("console", self._note_message)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._note_request)
        self.page.on("requestfailed", lambda request: self.complaints.append(request.url))

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _note_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data":
            self.asked.add(f"{parts.scheme}://{parts.netloc}")

    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.violations")
        return found
