"""Windows of a browser that tests use one after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Browser

from tests.browser.chromium import RecordedPage

TIMEOUT_MILLISECONDS = 60_000
EMPTY_STORES = "() => { localStorage.clear(); sessionStorage.clear(); }"
# What a page of the service finds in its window before it does anything.
READ_STATE = """() => JSON.stringify([
  {...localStorage}, {...sessionStorage}, document.cookie, `${setTimeout}`, `${Date}`])"""


@dataclass(frozen=True)
class WindowType:
    """Windows of the same type differ in nothing but their size."""

    language: str
    timezone: str | None = None
    reduced_motion: Literal["reduce"] | None = None
    host: str = "127.0.0.1"
    script: str = ""  # runs before those of each page


@dataclass(frozen=True)
class IdleWindow:
    recorded: RecordedPage
    blank_page: str  # of the service, without scripts
    state: str  # of a new window


class Windows:
    """Opens windows that share no cookies and no stores, as on different computers.

    A window is emptied when it is closed, and opened again for the next test. A new one takes as
    long as three pages: the browser creates a profile and a process and compiles all scripts.
    In between it shows a page of the service, because a page of another site, or about:blank, would
    get a new process too.
    """

    def __init__(self, browser: Browser, port: int) -> None:
        """The windows show pages of the service at this port only."""
        self._browser = browser
        self._port = port
        self._idle: dict[WindowType, list[IdleWindow]] = {}

    @contextmanager
    def open(
        self, window_type: WindowType, *, width: int = 1280, height: int = 720
    ) -> Iterator[RecordedPage]:
        idle = self._idle.setdefault(window_type, [])
        window = idle.pop() if idle else self._create(window_type)
        try:
            window.recorded.page.set_viewport_size({"width": width, "height": height})
            yield window.recorded
        except BaseException:
            window.recorded.page.context.close()
            raise
        if self._empty(window):
            idle.append(window)
        else:
            window.recorded.page.context.close()

    def _create(self, window_type: WindowType) -> IdleWindow:
        context = self._browser.new_context(
            locale=window_type.language,
            timezone_id=window_type.timezone,
            reduced_motion=window_type.reduced_motion,
        )
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MILLISECONDS)
        if window_type.script:
            page.add_init_script(window_type.script)
        recorded = RecordedPage(page)
        blank_page = f"http://{window_type.host}:{self._port}/healthz"
        page.goto(blank_page)
        state: str = page.evaluate(READ_STATE)
        recorded.forget()
        return IdleWindow(recorded, blank_page, state)

    def _empty(self, window: IdleWindow) -> bool:
        """Return whether the window is like a new one.

        It is not if a test has installed a clock or a script, which cannot be removed.
        """
        page = window.recorded.page
        for other in page.context.pages:
            if other != page:
                other.close()
        page.goto(window.blank_page)
        page.evaluate(EMPTY_STORES)
        page.context.clear_cookies()
        page.goto(window.blank_page)
        state = page.evaluate(READ_STATE)
        window.recorded.forget()
        return bool(state == window.state)
