"""The OpenAPI document says what the routes declare, and nothing it should not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from nimbill.foundation.errors import Invalid
from nimbill.http.forms import FORM_TYPES
from nimbill.http.request_bodies import parse_body
from tests.contract.declared_routes import Route, all_routes, declared_app
from tests.running_service import Service

DOCUMENT: dict[str, Any] = json.loads(declared_app().state.openapi_document)
SHOWN = [route for route in all_routes() if route.handler.resolve_include_in_schema()]
each_shown = pytest.mark.parametrize("route", SHOWN, ids=str)
BODIES: dict[str, type[msgspec.Struct]] = {
    route.body.__name__: route.body for route in SHOWN if route.body is not None
}
each_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][route.path][route.method.lower()]
    return found


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def accepts_null(schema: dict[str, Any]) -> bool:
    schema = resolved(schema)
    kinds = schema.get("type", [])
    return (
        "null" in ([kinds] if isinstance(kinds, str) else kinds)
        or any(accepts_null(one) for one in schema.get("oneOf", []) + schema.get("anyOf", []))
        or schema == {}
    )


def everything(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of the document with what it holds, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from everything(item)
    elif isinstance(value, list):
        for item in value:
            yield from everything(item)


def test_the_service_shows_this_document(service: Service) -> None:
    answer = service.http.get("/openapi.json")

    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1")


def test_every_route_is_shown_but_the_pages() -> None:
    hidden = [route for route in all_routes() if route not in SHOWN]

    assert {route.operation for route in hidden} == {"front", "api_page"}
    assert {
        (path, method) for path, methods in DOCUMENT["paths"].items() for method in methods
    } == {(route.path, route.method.lower()) for route in SHOWN}


@each_shown
def test_an_operation_names_its_role_actions_and_its_basis(route: Route) -> None:
    actions = ", ".join(route.role_actions) or "none"
    said = operation(route)["description"]

    assert f"Role actions, any one of: {actions}." in said
    assert f"Basis: {route.handler.opt['basis']}." in said
    assert said.splitlines()[0].strip(), "its own sentence comes first"


@each_shown
def test_an_operation_says_whether_it_needs_a_token(route: Route) -> None:
    expected: list[Any] | None = None if route.is_public else [{"bearer": []}]

    assert operation(route).get("security") == expected


@each_shown
def test_an_operation_names_its_answers(route: Route) -> None:
    answers = set(operation(route)["responses"])
    refusals = {"400", "404", "408", "413", "415", "503"}
    refusals |= {"401", "403", "429"} if not route.is_public or route.is_mutating else set()
    refusals |= {"409"} if route.is_mutating else set()

    assert answers == refusals | {str(route.handler.status_code)}


@each_shown
def test_an_operation_shows_its_body_and_parameters(route: Route) -> None:
    shown = operation(route)
    body = shown.get("requestBody", {}).get("content", {})
    parameters = {(one["in"], one["name"]) for one in shown.get("parameters", [])}

    assert {name for where, name in parameters if where == "path"} == set(route.path_names)
    assert (("header", "Idempotency-Key") in parameters) == (
        route.is_mutating and not route.is_public
    )
    if route.body is not None:
        own = {"$ref": f"#/components/schemas/{route.body.__name__}"}
        without = "role_actions_with_body" in route.handler.opt
        schema = {"oneOf": [own, {"type": "null"}]} if without else own
        assert body["application/json"] == {"schema": schema}
        forms = FORM_TYPES if "forms" in route.handler.opt else ()
        files = ("multipart/form-data",) if "uploads" in route.handler.opt else ()
        assert set(body) == {"application/json", *forms, *files}
        assert all(body[form] == body["application/json"] for form in forms)
    else:
        assert set(body) == set(route.handler.opt.get("reads", {}))


# required all the same: null unlinks here, and an open band ends nowhere
NULL_IS_A_VALUE = {("InvoiceTemplateLink", "invoice_template_id"), ("Band", "upto")}


@each_body
def test_optional_fields_may_be_null_and_required_ones_not(body: type[msgspec.Struct]) -> None:
    schema = DOCUMENT["components"]["schemas"][body.__name__]
    fields = msgspec.structs.fields(body)

    assert set(schema["properties"]) == {field.encode_name for field in fields}
    assert set(schema.get("required", [])) == {f.encode_name for f in fields if f.required}
    for field in fields:
        null_is_a_value = (body.__name__, field.name) in NULL_IS_A_VALUE
        nullable = accepts_null(schema["properties"][field.encode_name])
        assert nullable is (not field.required or null_is_a_value), field


@each_body
def test_the_service_takes_null_for_absent(body: type[msgspec.Struct]) -> None:
    """Whatever else is wrong with such a body, its nulls are not."""
    optional = [f.encode_name for f in msgspec.structs.fields(body) if not f.required]
    required = [f.encode_name for f in msgspec.structs.fields(body) if f.required]
    broken = broken_fields(body, dict.fromkeys(optional))

    assert not broken & set(optional)
    assert broken >= set(required)
    never_null = {name for name in required if (body.__name__, name) not in NULL_IS_A_VALUE}
    assert broken_fields(body, dict.fromkeys([*optional, *required])) >= never_null


def broken_fields(body: type[msgspec.Struct], sent: dict[str, Any]) -> set[str]:
    try:
        parse_body(body, sent)
    except Invalid as refusal:
        return {violation.field for violation in refusal.violations}
    return set()


def test_operation_ids_are_unique() -> None:
    ids = [value for key, value in everything(DOCUMENT["paths"]) if key == "operationId"]

    assert len(ids) == len(SHOWN)
    assert len(set(ids)) == len(ids)


def test_every_reference_leads_somewhere() -> None:
    references = {value for key, value in everything(DOCUMENT) if key == "$ref"}

    assert references
    for reference in references:
        assert resolved({"$ref": reference})


def leaks(document: Any) -> list[str]:
    """Examples, filled-in secrets, and places on the machine that made the document."""
    complaints = [
        f"{key} is an example" for key, _ in everything(document) if key in ("example", "examples")
    ]
    text = json.dumps(document)
    for word in (
        r"nb_cs_",
        r"nb_rt_",
        r"eyJ[A-Za-z0-9_-]{8,}",
        r"BEGIN [A-Z ]*KEY",
        r"/home/",
        r"/src/",
    ):
        complaints += [f"{word} stands in the document" for _ in re.findall(word, text)]
    return complaints


def test_the_document_has_no_examples_and_no_secrets() -> None:
    assert leaks(DOCUMENT) == []


def test_a_leak_is_found() -> None:
    assert leaks({"schema": {"example": "x"}}) == ["example is an example"]
    assert leaks({"default": "nb_cs_abc"}) == ["nb_cs_ stands in the document"]
    assert leaks({"d": "Bearer eyJhbGciOiJFUzI1NiJ9"}) != []


def test_exact_decimals_are_numbers() -> None:
    setting = DOCUMENT["components"]["schemas"]["InvoiceSetting"]["properties"]

    assert setting["discount_rate"] == {"type": "number"}
    assert setting["currency"] == {"type": "string"}


def test_this_document_is_an_object() -> None:
    answer = DOCUMENT["paths"]["/openapi.json"]["get"]["responses"]["200"]

    assert answer["content"]["application/json"]["schema"]["type"] == "object"
