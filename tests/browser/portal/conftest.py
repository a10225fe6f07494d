"""Signed-in pages of the customers' portal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Response

from tests.browser.chromium import SKIP_REASON, RecordedPage, find_chromium
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
DATA_PATHS = ("/m/", "/portal/session")


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

    def requested_paths(self) -> set[str]:
        return {response.url.removeprefix(self.address) for response in self.responses}

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
        viewport={"width": width, "height": 900},
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
        portal = Portal(RecordedPage(page), customer.url)
        page.on("response", lambda response: record_data(portal, response))
        yield portal
        portal.check_no_errors()
    finally:
        context.close()


def record_data(portal: Portal, response: Response) -> None:
    if response.url.removeprefix(portal.address).startswith(DATA_PATHS):
        portal.responses.append(response)
