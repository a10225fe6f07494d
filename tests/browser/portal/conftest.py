"""Signed-in pages of the customers' portal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Request, Response

from tests.browser.chromium import LOADING, SKIP_REASON, RecordedPage, find_chromium
from tests.browser.console.conftest import (
    TIMEOUT_MILLISECONDS,
    Console,
    console_browser,
    console_server,
)
from tests.browser.portal.sample_customer import EMAIL, SampleCustomer, create_customer
from tests.proof.real_server import PASSWORD, RealServer

__all__ = ["console_browser", "console_server"]  # fixtures

WIDE = 1440
PHONE = 390
HEIGHT = 900
DATA_PATHS = ("/m/", "/portal/session")
QUIET_ROUNDS = 5
ROUND_MILLISECONDS = 100
FITS = """width =>
  innerWidth === width && document.documentElement.scrollWidth <= width"""
IS_LOADING = """loading =>
  [...document.querySelectorAll(loading)].some((element) => element.checkVisibility())"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_chromium() is None:
        for item in items:
            if "browser/portal" in str(item.path):
                item.add_marker(pytest.mark.skip(reason=SKIP_REASON))


@dataclass(frozen=True)
class Portal(Console):
    """A window of the portal, with all data that it has received."""

    root: str = "/portal"
    responses: list[Response] = field(default_factory=list)
    waiting: set[Request] = field(default_factory=set)

    def wait_until_complete(self) -> None:
        """Wait until the page neither requests nor loads anything for half a second.

        The frame of a PDF viewer need not become idle, so the browser's own notion does not help.
        """
        deadline, quiet = time.monotonic() + TIMEOUT_MILLISECONDS / 1000, 0
        while quiet < QUIET_ROUNDS:
            self.page.wait_for_timeout(ROUND_MILLISECONDS)
            is_loading = self.waiting or self.page.evaluate(IS_LOADING, LOADING)
            quiet = 0 if is_loading else quiet + 1
            assert time.monotonic() < deadline, [request.url for request in self.waiting]

    def open_complete(self, path: str) -> None:
        """Open a page and wait for everything on it."""
        self.page.goto(f"{self.address}/healthz")  # ends the requests of the page before
        self.responses.clear()  # the browser forgets them when it leaves a page
        self.waiting.clear()
        self.open(path)
        self.wait_until_complete()

    def requested_paths(self) -> set[str]:
        return {response.url.removeprefix(self.address) for response in self.responses}

    def check_width(self, width: int) -> None:
        """Make the window this wide; nothing on the page may be wider."""
        self.page.set_viewport_size({"width": width, "height": HEIGHT})
        self.page.wait_for_function(FITS, arg=width)

    def read_everything(self) -> str:
        """What is on the page, in its data and in the stores of the browser."""
        stores = self.page.evaluate(
            "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
        )
        received = [
            f"{response.url} {response.text()}"
            for response in self.responses
            if "json" in response.headers.get("content-type", "")
        ]
        return "\n".join([self.page.content(), stores, *received])


@pytest.fixture(scope="session")
def customer(console_server: RealServer) -> SampleCustomer:
    return create_customer(console_server)


OpenPortal = Callable[..., Portal]


@pytest.fixture
def open_portal(console_browser: Browser, customer: SampleCustomer) -> Iterator[OpenPortal]:
    """Open windows of several people; they are checked for errors at the end of the test."""
    with ExitStack() as stack:

        def open_window(
            username: str = EMAIL, *, language: str = "ja", width: int = WIDE
        ) -> Portal:
            window = sign_in(console_browser, customer, username, language, width)
            return stack.enter_context(window)

        yield open_window


@contextmanager
def sign_in(
    browser: Browser, customer: SampleCustomer, username: str, language: str, width: int
) -> Iterator[Portal]:
    context = browser.new_context(
        reduced_motion="reduce",
        locale=language,
        timezone_id="Asia/Tokyo",
        viewport={"width": width, "height": HEIGHT},
    )
    try:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MILLISECONDS)
        page.add_init_script(
            "window.localStorage?.setItem('nimbill-session-portal', 'open');"
            f"window.localStorage?.setItem('nimbill-language', '{language}');"
        )
        login = {
            "organisation": customer.organisation_id,
            "username": username,
            "password": PASSWORD,
        }
        response = context.request.post(f"{customer.url}/portal/session", data=login)
        assert response.ok, response.text()
        portal = record_portal(Console(RecordedPage(page), customer.url))
        yield portal
        portal.check_no_errors()
    finally:
        context.close()


def record_portal(window: Console) -> Portal:
    """Record what a window of the portal requests and receives from now on."""
    portal = Portal(window.recorded, window.address)
    page = window.page
    page.on("response", lambda response: record_data(portal, response))
    page.on("request", lambda request: record_request(portal, request))
    page.on("requestfinished", lambda request: portal.waiting.discard(request))
    page.on("requestfailed", lambda request: portal.waiting.discard(request))
    return portal


def record_request(portal: Portal, request: Request) -> None:
    if request.resource_type in ("fetch", "xhr"):
        portal.waiting.add(request)


def record_data(portal: Portal, response: Response) -> None:
    if response.url.removeprefix(portal.address).startswith(DATA_PATHS):
        portal.responses.append(response)
