"""The API page (GET /docs) in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.api_page import authorize, execute, expand_operation, list_operations
from tests.browser.chromium import BrowserDriver, RecordedPage
from tests.command_line import init_organisation
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS
from tests.proof.real_server import RealServer

TIMEOUT_MILLISECONDS = 300_000  # a busy machine takes minutes to load it


@pytest.fixture(scope="module")
def server(console_server: RealServer) -> RealServer:
    return console_server


@pytest.fixture(scope="module")
def loaded_page(browser_driver: BrowserDriver, server: RealServer) -> Iterator[RecordedPage]:
    """The page with all operations; loading it takes many seconds, even with all compilers."""
    with browser_driver.start_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 4000})
        page.set_default_timeout(TIMEOUT_MILLISECONDS)
        recorded = RecordedPage(page)
        page.goto(f"{server.url}/docs")
        page.locator(".opblock").first.wait_for()
        yield recorded


@pytest.fixture
def recorded(loaded_page: RecordedPage, server: RealServer) -> Iterator[RecordedPage]:
    """It must cause no errors and contact no other server while it loads and during a test."""
    yield loaded_page
    assert loaded_page.errors == []
    assert loaded_page.violations() == []
    assert loaded_page.origins == {server.url}


def test_the_page_has_a_title_and_lists_every_operation(
    recorded: RecordedPage, server: RealServer
) -> None:
    document = httpx.get(f"{server.url}/openapi.json", timeout=60).json()
    operations = {
        (method, path) for path, methods in document["paths"].items() for method in methods
    }

    expect(recorded.page).to_have_title("Nimbill API")
    assert list_operations(recorded.page, count=len(operations)) == operations


def test_an_expanded_operation_shows_its_fields_and_statuses(recorded: RecordedPage) -> None:
    block = expand_operation(recorded.page, "post", "/m/core/billinggroup")

    expect(block).to_contain_text("Role actions, any one of: ModifyBillingGroup")
    expect(block.locator(".opblock-section-request-body")).to_contain_text("billinggroup_id")
    statuses = block.locator(".responses-table .response-col_status").all_inner_texts()
    assert {"200", "400", "401", "403", "409"} <= {text.strip() for text in statuses}


def test_requests_from_the_page_use_the_entered_token(
    recorded: RecordedPage, server: RealServer
) -> None:
    token = server.token(init_organisation(server.environment, "Browser"))
    httpx.post(
        f"{server.url}/m/core/billinggroup",
        json=REQUIRED_FIELDS,
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    ).raise_for_status()

    authorize(recorded.page, token)
    table = execute(expand_operation(recorded.page, "get", "/m/core/billinggroup"))

    response = table.locator(".response")
    expect(response.locator(".response-col_status")).to_contain_text(
        "200", timeout=TIMEOUT_MILLISECONDS
    )
    expect(response.locator(".response-col_description").first).to_contain_text(
        REQUIRED_FIELDS["company_name"]
    )
