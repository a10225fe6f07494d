"""The service and the browsers that all tests of web pages share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import SKIP_REASON, BrowserDriver, find_chromium, start_driver
from tests.browser.windows import Windows
from tests.command_line import build_environment
from tests.proof.real_server import RealServer, real_server

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_chromium() is None:
        for item in items:
            if item.path.is_relative_to(FOLDER):
                item.add_marker(pytest.mark.skip(reason=SKIP_REASON))


@pytest.fixture(scope="session")
def console_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    data = tmp_path_factory.mktemp("console") / "data"
    environment = build_environment(data, NIMBILL_RATE_LIMIT="0")
    with real_server(data, environment, workers=1) as server:
        yield server


@pytest.fixture(scope="package")
def browser_driver() -> Iterator[BrowserDriver]:
    """Its event loop must end before tests that start their own."""
    with start_driver() as driver:
        yield driver


@pytest.fixture(scope="package")
def windows(browser_driver: BrowserDriver, console_server: RealServer) -> Iterator[Windows]:
    """Frames with a PDF file stay empty in them."""
    with browser_driver.start_browser(for_short_visits=True) as browser:
        yield Windows(browser, console_server.port)


@pytest.fixture(scope="package")
def pdf_windows(browser_driver: BrowserDriver, console_server: RealServer) -> Iterator[Windows]:
    """They show PDF files too, and take longer to do everything."""
    with browser_driver.start_browser(with_pdf_viewer=True, for_short_visits=True) as browser:
        yield Windows(browser, console_server.port)
