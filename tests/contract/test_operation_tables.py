"""Every operation in the tables of the specification is a route with this request and response."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import pytest

from tests.contract.declared_routes import all_routes
from tests.contract.interface_schemas import (
    Schema,
    find_operation,
    list_lengths,
    list_property_names,
    list_types,
    list_values,
    request_fields,
    response_schema,
)
from tests.contract.specification import (
    collapse_whitespace,
    find_section,
    list_headings,
    parse_tables,
    read_page,
    read_pages,
    read_specification,
    read_table,
)

PATHS = r"Paths(?: on this page| of this table)? are relative to (\{\w+\})"
# rows whose method or path is open
OPEN = {"list", "update"}
# names of path parameters in the code
PARAMETERS = {
    "{id}": "{both_ids}",
    ":user": "{user}",
    ":clientid": "{client_id}",
}
# operations whose method and path are open, and what was chosen
CHOSEN = {
    "Get account total cost list": "GET /m/core/invoice/{month}/details",
    "Get invoice list": "GET /m/core/invoices/{month}",
    "Save invoice settings": "PUT /m/core/invoices/save/{month}",
    "Save invoice exchange rates": "PUT /m/core/invoices/exchangerate/{month}",
    "Create invoice": "POST /m/core/invoices/calculation/{month}",
    "Create": "POST /m/core/billinggroup",
    "List": "GET /m/core/billinggroup",
    "List details": "GET /m/core/billinggroup/{company_id}/resource",
    "Update": "POST /m/core/billinggroup/{company_id}",
    "Update invoice setting": "POST /m/core/billinggroup/{company_id}/invoices",
    "Update free format": "POST /m/core/billinggroup/{company_id}/freeformat/{vendor}",
    "Delete free format": "DELETE /m/core/billinggroup/{company_id}/freeformat",
    "Update invoice template": "POST /m/core/billinggroup/{company_id}/invoicetemplate",
    "Delete": "DELETE /m/core/billinggroup/{company_id}",
}
# required, but either in the body or in the query
SENT_EITHER_WAY = {("Legacy lifecycle API", "username")}
TYPES = {"string", "boolean", "integer", "number", "double", "object", "array"}


class DescribedOperation(NamedTuple):
    heading: str
    method: str
    path: str
    request: str
    response: str
    query: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def list_operations(page: str) -> tuple[DescribedOperation, ...]:
    return parse_operations(page, read_specification())


@lru_cache(maxsize=16)
def parse_operations(page: str, _specification: str) -> tuple[DescribedOperation, ...]:
    return tuple(iterate_operations(page))


def iterate_operations(page: str) -> Iterator[DescribedOperation]:
    """The rows of the tables of operations, with the declared path."""
    text = read_page(page)
    for heading in list_headings(text):
        for header, rows in parse_tables(find_section(text, heading)):
            if header[:2] == ["Method", "Path"]:
                for row in rows:
                    yield from list_routes_of_row(find_base(text, heading), heading, *row)
            elif header[0] == "Operation":
                for name, *stated, request in rows:
                    method, path = CHOSEN[name].split()
                    assert set(re.findall(r"`(.+?)`", stated[-1])) <= {"{id}"}
                    for word in re.findall(r"\((\w+)\)", stated[-1]):
                        assert f"{{{word}}}" in path
                    if not stated[0].startswith("open"):
                        assert " ".join(stated).replace(" /", " /m/core/") == CHOSEN[name]
                    response = request.partition("the response has ")[2]
                    yield DescribedOperation(heading, method, path, request, f"200, {response}")


def find_base(page: str, heading: str) -> str:
    """What the paths of a table are relative to, as its section says, or else its page."""
    texts = (collapse_whitespace(text) for text in (find_section(page, heading), page))
    found = [base for text in texts for base in re.findall(PATHS, text)]
    return found[0] if found else ""


def list_routes_of_row(
    base: str, heading: str, method: str, path: str, request: str, response: str = ""
) -> Iterator[DescribedOperation]:
    """A path of both products is two routes."""
    if method not in OPEN:
        full = full_path(base, path)
        for name in list_products() if "{product}" in full else [""]:
            declared = full.replace("{product}", name)
            query = tuple(re.findall(r"[?&](\w+)=", path))
            yield DescribedOperation(heading, method.split()[0], declared, request, response, query)


def full_path(base: str, path: str) -> str:
    """The path as it is declared."""
    (name, invoice) = re.findall(r"(`.+?`) stands for (`.+?`)", read_page("after-the-invoice.md"))[
        0
    ]
    path = re.split(r"; |\?|\[", path)[0].replace(name.strip("`"), invoice.strip("`"))
    if not re.match(r"\{\w+_url\}", path):
        path = base + path
    meanings = {name: meaning for name, meaning in read_placeholders() if name in path}
    for name, meaning in meanings.items():
        base = meaning.split(",")[0].removeprefix("{base_url}")
        path = path.replace(name, base if base.startswith("/") else "")
    for name, parameter in PARAMETERS.items():
        path = re.sub(rf"{re.escape(name)}(?!\w)", parameter, path)
    return path


def list_products() -> list[str]:
    (sentence,) = re.findall(r"`{product}` is (.*)\. P", read_page("signing-in.md"))
    return re.findall(r"`(\w+)`", sentence)


def read_placeholders() -> list[list[str]]:
    ((_, rows),) = parse_tables(find_section(read_page("README.md"), "Conventions"))
    return rows


PAGES = sorted(read_pages())


@pytest.mark.parametrize("page", PAGES)
def test_every_operation_is_a_route_with_its_status(page: str) -> None:
    routes = {(route.method, route.path): route.handler for route in all_routes()}

    for operation in list_operations(page):
        handler = routes[operation.method, operation.path]
        if stated := re.match(r"\d{3}", operation.response):
            assert handler.status_code == int(stated[0]), operation


def list_documented(page: str) -> Iterator[tuple[DescribedOperation, Schema]]:
    """Without the two routes that a browser loads by itself, which have no JSON body."""
    for operation in list_operations(page):
        if not operation.path.endswith(("/logo", "/style.css")):
            yield operation, find_operation(operation.method, operation.path)


@cache
def list_fields(method: str, path: str) -> dict[str, tuple[Schema, bool]]:
    return request_fields(find_operation(method, path))


@pytest.mark.parametrize("page", PAGES)
def test_every_field_of_a_request_exists_with_its_rules(page: str) -> None:
    for operation, _ in list_documented(page):
        fields = list_fields(operation.method, operation.path)
        for name, rule in list_stated_fields(operation.request):
            schema, required = fields[name]
            if (operation.heading, name) not in SENT_EITHER_WAY:
                assert required or not re.search(r"\brequired\b(?! for)", rule), (operation, name)
            assert "optional" not in rule or not required, (operation, name)
            assert_types(schema, rule)
            assert_values(schema, rule, set(fields))
            assert_lengths(schema, rule)


@pytest.mark.parametrize("page", PAGES)
def test_every_parameter_in_the_query_exists_with_its_values(page: str) -> None:
    for operation, _ in list_documented(page):
        fields = list_fields(operation.method, operation.path)
        words = {word for schema, _ in fields.values() for word in list_values(schema)}
        assert set(operation.query) <= set(fields), operation
        if operation.request.startswith(("none; `", "`")) and operation.method != "POST":
            stated = re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", operation.request))
            assert set(stated) <= set(fields) | words, operation


def list_stated_fields(cell: str) -> Iterator[tuple[str, str]]:
    """Each `name (rules)` of a cell, or the names of a list without rules."""
    if cell.startswith("CSV"):
        return
    yield from re.findall(r"(\w+) \(((?:[^()]|\([^()]*\))*)\)", cell)
    if not re.search(r"[;`:]", cell):
        for name in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", cell):
            yield name, ""


def assert_types(schema: Schema, rule: str) -> None:
    stated = {word for word in re.findall(r"^\w+", rule) if word in TYPES}
    types = list_types(schema)
    assert {"number" if type_ == "double" else type_ for type_ in stated} <= types, rule


def assert_values(schema: Schema, rule: str, fields: set[str]) -> None:
    """The words of a field are those of the schema, for a vendor those that every one may bill."""
    values, stated = list_values(schema), re.findall(r"`(\w+)`", rule)
    if values and stated:
        assert set(stated) - fields == set(values), rule


def assert_lengths(schema: Schema, rule: str) -> None:
    if length := re.search(r"([\d,]+) to ([\d,]+) characters", rule):
        least, most = (int(bound.replace(",", "")) for bound in length.groups())
        assert list_lengths(schema) == {(least, most)}, rule


def test_the_base_of_billing_administration_is_shown_for_the_reseller_path_alone() -> None:
    shown = re.findall(r"^\| \w+ \| ({core_url}\S*)", read_specification(), re.MULTILINE)

    assert shown == ["{core_url}/reseller"]


def test_every_operation_is_described() -> None:
    named = [
        row[0]
        for heading in ("Invoices", "Billing groups")
        for row in read_table(heading, "Operation")
    ]

    assert sorted(named) == sorted(CHOSEN)


@cache
def list_names(method: str, path: str, status: str) -> set[str]:
    return list_property_names(response_schema(find_operation(method, path), status))


@pytest.mark.parametrize("page", PAGES)
def test_every_name_in_a_response_is_a_field_of_it(page: str) -> None:
    for operation, document in list_documented(page):
        status, described = re.findall(r"^(\d*)[,:; ]*(.*)$", operation.response)[0]
        schema = response_schema(document, status or "200")
        names = list_names(operation.method, operation.path, status or "200")
        stated = re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|(?<=`)\w+(?=`)", described)
        assert set(stated) <= names, operation
        if described and list_types(schema) != {
            "array",
            "object",
        }:  # one route creates and lists resellers
            assert described.startswith("array") is (list_types(schema) == {"array"}), operation
