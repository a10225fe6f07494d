"""GET /docs, in a real browser"""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.chromium import NONE_HERE, Watched, chromium, chromium_path
from tests.command_line import environment, init
from tests.customers.billing_groups.bodies import REQUIRED_FIELDS
from tests.proof.real_server import RealServer, real_server

pytestmark = pytest.mark.skipif(chromium_path() is None, reason=NONE_HERE)

WITHIN = 60_000  # milliseconds


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    data = tmp_path_factory.mktemp("browser") / "data"
    with real_server(data, environment(data), workers=1) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def watched(browser: Browser, server: RealServer) -> Iterator[Watched]:
    """The page, opened and drawn; whatever a test does there, it must leave no complaint."""
    page = browser.new_page()
    page.set_default_timeout(WITHIN)
    watched = Watched(page)
    page.goto(f"{server.url}/docs")
    page.locator(".opblock").first.wait_for()
    yield watched
    assert watched.complaints == []
    assert watched.violations() == []
    assert watched.asked == {server.url}
    page.close()


def operation(watched: Watched, method: str, path: str) -> Locator:
    """The block of one operation, unfolded."""
    named = watched.page.locator(f'.opblock-summary-path[data-path="{path}"]')
    block = watched.page.locator(f".opblock-{method}", has=named)
    block.locator(".opblock-summary-control").click()
    return block


def test_the_page_names_itself_and_lists_every_operation(
    watched: Watched, server: RealServer
) -> None:
    document = httpx.get(f"{server.url}/openapi.json").json()
    operations = sum(len(methods) for methods in document["paths"].values())

    expect(watched.page).to_have_title("Nimbill API")
    expect(watched.page.locator(".opblock")).to_have_count(operations)


def test_an_operation_unfolds_to_its_fields_and_refusals(watched: Watched) -> None:
    block = operation(watched, "post", "/m/core/billinggroup")

    expect(block).to_contain_text("Role actions, any one of: ModifyBillingGroup")
    expect(block.locator(".opblock-section-request-body")).to_contain_text("billinggroup_id")
    statuses = block.locator(".responses-table .response-col_status").all_inner_texts()
    assert {"200", "400", "401", "403", "409"} <= {text.strip() for text in statuses}


def test_a_token_typed_in_is_used_for_the_calls_that_are_tried(
    watched: Watched, server: RealServer
) -> None:
    token = server.token(init(server.environment, "Browser"))
    httpx.post(
        f"{server.url}/m/core/billinggroup",
        json=REQUIRED_FIELDS,
        headers={"Authorization": f"Bearer {token}"},
    ).raise_for_status()

    watched.page.get_by_role("button", name="Authorize").first.click()
    asked = watched.page.locator(".modal-ux")
    asked.locator("input").fill(token)
    asked.get_by_role("button", name=re.compile("apply credentials", re.IGNORECASE)).click()
    asked.get_by_role("button", name="Close").first.click()
    block = operation(watched, "get", "/m/core/billinggroup")
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()

    answered = block.locator(".live-responses-table .response")
    expect(answered.locator(".response-col_status")).to_contain_text("200", timeout=WITHIN)
    expect(answered.locator(".response-col_description").first).to_contain_text(
        REQUIRED_FIELDS["company_name"]
    )
