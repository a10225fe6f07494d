"""Signed-in pages of the customers' portal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Request, Response

from tests.browser.chromium import LOADING
from tests.browser.console.conftest import Console
from tests.browser.portal.sample_customer import EMAIL, SampleCustomer, create_customer
from tests.browser.windows import TIMEOUT_MILLISECONDS, Windows, WindowType
from tests.proof.real_server import PASSWORD, RealServer

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

    def visit_complete(self, path: str) -> None:
        """Show another page and wait for everything on it. It uses what the page has received."""
        self.responses.clear()
        self.visit(path)
        self.wait_until_complete()

    def list_links(self) -> set[str]:
        """The pages that the person may see, from the navigation."""
        links = self.page.get_by_role("navigation").get_by_role("link")
        links.first.wait_for()
        return {str(link.get_attribute("href")).removeprefix(self.root) for link in links.all()}

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
def open_portal(windows: Windows, customer: SampleCustomer) -> Iterator[OpenPortal]:
    """Open windows of several people; they are checked for errors at the end of the test."""
    with ExitStack() as stack:

        def open_window(
            username: str = EMAIL, *, language: str = "ja", width: int = WIDE
        ) -> Portal:
            window = sign_in(windows, customer, username, language, width)
            return stack.enter_context(window)

        yield open_window


@contextmanager
def sign_in(
    windows: Windows, customer: SampleCustomer, username: str, language: str, width: int
) -> Iterator[Portal]:
    script = (
        "window.localStorage?.setItem('nimbill-session-portal', 'open');"
        f"window.localStorage?.setItem('nimbill-language', '{language}');"
    )
    window_type = WindowType(language, "Asia/Tokyo", "reduce", script=script)
    with windows.open(window_type, width=width, height=HEIGHT) as recorded:
        login = {
            "organisation": customer.organisation_id,
            "username": username,
            "password": PASSWORD,
        }
        response = recorded.page.context.request.post(f"{customer.url}/portal/session", data=login)
        assert response.ok, response.text()
        with record_portal(Console(recorded, customer.url)) as portal:
            yield portal
        portal.check_no_errors()


@contextmanager
def record_portal(window: Console) -> Iterator[Portal]:
    """Record what a window of the portal requests and receives from now on."""
    portal = Portal(window.recorded, window.address)
    page = window.page

    def add_response(response: Response) -> None:
        if response.url.removeprefix(portal.address).startswith(DATA_PATHS):
            portal.responses.append(response)

    def add_request(request: Request) -> None:
        if request.resource_type in ("fetch", "xhr"):
            portal.waiting.add(request)

    def remove_request(request: Request) -> None:
        portal.waiting.discard(request)

    page.on("response", add_response)
    page.on("request", add_request)
    page.on("requestfinished", remove_request)
    page.on("requestfailed", remove_request)
    try:
        yield portal
    finally:
        page.remove_listener("response", add_response)
        page.remove_listener("request", add_request)
        page.remove_listener("requestfinished", remove_request)
        page.remove_listener("requestfailed", remove_request)
