"""The CSV file of a list holds every row that the filters leave, not only the shown page."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.console.conftest import Console, OpenConsole
from tests.browser.console.sample_reseller import SampleReseller, create_reseller
from tests.imports.aws_reports import PAYER
from tests.proof.real_server import RealServer

OSAKA = 1_020  # more than one request reads
TOKYO = 30
HEADER = "vendor,account_id,customer_id,billinggroup_id,name"


def add_accounts(reseller: SampleReseller) -> None:
    cities = ["大阪"] * OSAKA + ["東京"] * TOKYO
    lines = [
        f"aws,{PAYER},{600_000_000_000 + number},BG-0001,{city} {number}"
        for number, city in enumerate(cities)
    ]
    with reseller.api() as api:
        response = api.post(
            "/core/accts/csv",
            content="\n".join([HEADER, *lines]).encode(),
            headers={"Content-Type": "text/csv"},
        )
        assert response.is_success, response.text


def save_file(console: Console) -> list[str]:
    with console.page.expect_download() as download:
        console.page.get_by_role("button", name="CSV", exact=True).click()
    return download.value.path().read_text("utf-8-sig").splitlines()


def test_the_file_of_a_long_list_holds_all_its_rows(
    console_server: RealServer, open_console: OpenConsole
) -> None:
    reseller = create_reseller(console_server, "Many accounts")
    add_accounts(reseller)
    console = open_console(reseller)
    console.open("/accounts?search=大阪")
    expect(console.page.get_by_role("row")).to_have_count(51)

    header, *lines = save_file(console)

    assert header.startswith("名称,アカウント番号,")
    assert len({line.split(",")[1] for line in lines}) == len(lines) == OSAKA
    assert all(line.startswith("大阪 ") for line in lines)


def test_a_list_that_is_shown_whole_is_not_read_again(console: Console) -> None:
    console.open("/customers")
    expect(console.page.get_by_role("row")).not_to_have_count(0)
    requests: list[str] = []
    console.page.on("request", lambda request: requests.append(request.url))

    _, *lines = save_file(console)

    assert len(lines) == console.page.get_by_role("row").count() - 1
    assert [url for url in requests if "/m/core/" in url] == []
