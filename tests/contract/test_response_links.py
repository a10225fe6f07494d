"""Links of the OpenAPI document lead to existing operations, with values that responses contain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pytest

from nimbill.application.installed import installed_links
from nimbill.application.openapi import LINK_BODY
from nimbill.database.embedded_postgres import Address
from tests.contract.declared_routes import Route, all_routes, declared_app
from tests.contract.resource_factories import REFERENCES
from tests.contract.route_requests import (
    RouteRequest,
    build_valid_request,
    root_headers,
    send_request,
)
from tests.contract.superuser import connect_superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.running_service import Service

DOCUMENT: dict[str, Any] = json.loads(declared_app().state.build_openapi_document())
ROUTES = {route.operation: route for route in all_routes()}
OPERATIONS = {
    operation["operationId"]: operation
    for methods in DOCUMENT["paths"].values()
    for operation in methods.values()
}
EXPRESSION = re.compile(r"\$(request|response)\.(?:(path|query)\.([^}]+)|body#(/[^}]*))")


@dataclass(frozen=True)
class DocumentedLink:
    source: Mapping[str, Any]
    name: str
    link: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.source['operationId']} -> {self.name}"


LINKS = [
    DocumentedLink(operation, name, link)
    for operation in OPERATIONS.values()
    for response in operation["responses"].values()
    for name, link in response.get("links", {}).items()
]


def list_faults(documented: DocumentedLink) -> list[str]:
    """What a client could not follow, without sending anything."""
    target = OPERATIONS.get(documented.link["operationId"])
    if target is None:
        return [f"{documented}: no such operation"]
    faults = [
        f"{documented}: the target has no parameter {name}"
        for name in documented.link.get("parameters", {})
        if name not in list_parameters(target)
    ]
    faults += [
        f"{documented}: the body of the target has no field {name}"
        for name in documented.link.get(LINK_BODY, {})
        if name not in list_body_fields(target)
    ]
    known = list_parameters(documented.source)
    for text in iterate_texts(documented.link):
        for found in EXPRESSION.finditer(text):
            if found[3] is not None and found[3] not in known:
                faults.append(f"{documented}: the source has no parameter {found[3]}")
    return faults


def list_parameters(operation: Mapping[str, Any]) -> set[str]:
    return {parameter["name"] for parameter in operation.get("parameters", [])}


def list_body_fields(operation: Mapping[str, Any]) -> set[str]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    schema = schema.get("oneOf", [schema])[0]
    name = schema.get("$ref", "").rpartition("/")[2]
    return set(DOCUMENT["components"]["schemas"].get(name, {}).get("properties", {}))


def iterate_texts(value: Any) -> Iterator[str]:
    """Every text of a link's parameters and body that may be an expression."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from iterate_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from iterate_texts(item)


def test_every_link_names_an_operation_and_its_parameters() -> None:
    assert [fault for link in LINKS for fault in list_faults(link)] == []


def test_every_declared_link_is_documented_once() -> None:
    declared = [
        (source, link.target) for source, links in installed_links().items() for link in links
    ]

    assert len(declared) == len(set(declared)) == len(LINKS)
    named = {name for pair in declared for name in pair}
    names = [route.operation for route in all_routes()]
    assert [name for name in named if names.count(name) != 1] == []


@pytest.mark.parametrize(
    ("link", "fault"),
    [
        ({"operationId": "Unknown"}, "no such operation"),
        ({"parameters": {"color": "$response.body#/company_id"}}, "no parameter color"),
        ({"parameters": {"company_id": "$request.path.color"}}, "no parameter color"),
        ({LINK_BODY: {"color": "$response.body#/company_id"}}, "no field color"),
    ],
)
def test_a_wrong_link_is_found(link: dict[str, Any], fault: str) -> None:
    source = OPERATIONS["MCoreBillinggroupCreateBillingGroup"]
    target = "MCoreBillinggroupCompanyIdUpdateBillingGroup"

    (found,) = list_faults(DocumentedLink(source, "wrong", {"operationId": target} | link))

    assert found.endswith(fault)


# ── every expression has a value in a real response ──────────────────────────────────────────────


@pytest.fixture(scope="module")
def tenant(running: Service, superuser: Address) -> Iterator[Tenant]:
    """An organisation with one record of each kind, so that no list is empty."""
    with connect_superuser(running, superuser) as connection:
        tenant = new_tenant(running, connection, "linked")
        for reference in set(REFERENCES.values()):
            reference.make(tenant)
        yield tenant


def find_value(expression: str, request: RouteRequest, response: Any) -> Any:
    """Evaluate a runtime expression; KeyError, IndexError or TypeError if it has no value."""
    found = EXPRESSION.fullmatch(expression)
    assert found, f"{expression} is not an expression"
    side, location, name, pointer = found.groups()
    if location is not None:
        return getattr(request, location)[name]
    body = request.body if side == "request" else response
    return reduce(_step, pointer.split("/")[1:], body)


def _step(value: Any, key: str) -> Any:
    return value[int(key)] if isinstance(value, list) else value[key]


@pytest.mark.parametrize("source", installed_links())
def test_the_values_of_a_link_are_in_the_response(source: str, tenant: Tenant) -> None:
    route: Route = ROUTES[source]
    request = build_valid_request(route, tenant)
    if source == "list_api_clients":
        request.path["user"] = tenant.organisation.root_user_id  # has a client
    for name in ("company_id", "month"):  # they would select records that were not made
        request.query.pop(name, None)

    answer = send_request(tenant, route, request, root_headers(tenant, route, route.products[0]))

    assert answer.is_success, answer.text
    for link in installed_links()[source]:
        for text in iterate_texts([dict(link.parameters), dict(link.body or {})]):
            for found in EXPRESSION.finditer(text):
                value = find_value(found[0], request, answer.json())
                assert value, f"{source} -> {link.target}: {text} is {value!r}"
