"""docs/migrating-from-v3.md names every operation of version 3 and only existing replacements."""

import re

from nimbill.legacy.deprecation import VERSION_3
from tests.contract.declared_routes import all_routes
from tests.contract.specification import ROOT

PAGE = (ROOT / "docs" / "migrating-from-v3.md").read_text()
SERVED = {f"{route.method} {route.path}" for route in all_routes()}
NAMED = set(re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)`", PAGE))


def test_every_operation_of_version_3_is_named() -> None:
    assert {operation for operation in SERVED if " /v3/" in operation} - NAMED == set()


def test_every_named_operation_exists() -> None:
    assert not NAMED - SERVED
    assert len([operation for operation in NAMED if " /v3/" not in operation]) > 8


def test_the_headers_are_those_of_responses() -> None:
    for name, value in VERSION_3.headers():
        assert f"{name.decode().title()}: {value.decode()}\n" in PAGE


def test_the_dates_are_those_of_the_code() -> None:
    since, until = (at.strftime("%-d %B %Y") for at in (VERSION_3.since, VERSION_3.until))

    assert f"since {since} and stays as it is until {until}" in " ".join(PAGE.split())
