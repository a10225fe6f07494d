"""docs/routes.md, jobs.md and closed-months.md show what the program declares."""

import json

import pytest

from nimbill.access.gate import iterate_routes
from nimbill.application.app import create_litestar_app
from nimbill.application.generated_pages import PAGES
from nimbill.application.installed import load_settings
from nimbill.costs.months.closed_month import MonthChange
from tests.contract.declared_routes import all_routes
from tests.contract.specification import ROOT

DOCS = ROOT / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run: make routes"


def test_the_page_has_a_row_for_every_route() -> None:
    rows = [line for line in (DOCS / "routes.md").read_text().splitlines() if line.startswith("| ")]

    assert len(rows) == len(all_routes()) + 1  # the header


@pytest.mark.parametrize("name", PAGES)
def test_the_page_does_not_depend_on_settings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIMBILL_BASE_URL", "https://elsewhere.example")

    assert PAGES[name]() == (DOCS / name).read_text()


def test_the_api_document_says_what_a_closed_month_refuses() -> None:
    app = create_litestar_app(load_settings({}))
    paths = json.loads(app.state.build_openapi_document())["paths"]
    declared = {
        (path, method.lower()): handler.opt["closed_month"]
        for path, handler in iterate_routes(app)
        for method in handler.http_methods
        if "closed_month" in handler.opt
    }

    assert set(declared.values()) == set(MonthChange)
    for (path, method), change in declared.items():
        assert change.value in paths[path][method]["description"]
