"""docs/routes.md lists the routes as they are declared."""

import pytest

from nimbill.application import route_table
from tests.contract.declared_routes import all_routes
from tests.contract.specification import ROOT

PAGE = ROOT / "docs" / "routes.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == route_table.format_route_table(), "run: make routes"


def test_the_page_has_a_row_for_every_route() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]

    assert len(rows) == len(all_routes()) + 1  # the header


def test_the_page_does_not_depend_on_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIMBILL_BASE_URL", "https://elsewhere.example")

    assert route_table.format_route_table() == PAGE.read_text()
