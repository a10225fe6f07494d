"""The OpenAPI document contains what the routes declare, and no secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.errors import Invalid
from nimbill.http.forms import FORM_TYPES
from nimbill.http.request_bodies import parse_body
from tests.contract.declared_routes import Route, all_routes, declared_app
from tests.running_service import Service

DOCUMENT: dict[str, Any] = json.loads(declared_app().state.build_openapi_document())
DOCUMENTED = [route for route in all_routes() if route.handler.resolve_include_in_schema()]
each_documented = pytest.mark.parametrize("route", DOCUMENTED, ids=str)
BODIES: dict[str, type[msgspec.Struct]] = {
    route.body.__name__: route.body for route in DOCUMENTED if route.body is not None
}
each_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def shape(path: str) -> str:
    """The path without the names of its parameters."""
    return re.sub(r"{[^}]*}", "{}", path)


PATHS = {shape(path): path for path in DOCUMENT["paths"]}


def operation(route: Route) -> dict[str, Any]:
    path = PATHS[shape(route.path)]
    documented: dict[str, Any] = DOCUMENT["paths"][path][route.method.lower()]
    return documented


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def accepts_null(schema: dict[str, Any]) -> bool:
    schema = resolve(schema)
    types = schema.get("type", [])
    return (
        "null" in ([types] if isinstance(types, str) else types)
        or any(accepts_null(member) for member in schema.get("oneOf", []) + schema.get("anyOf", []))
        or schema == {}
    )


def walk_document(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of the document and its value, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from walk_document(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk_document(item)


def test_the_service_returns_this_document(service: Service) -> None:
    response = service.http.get("/openapi.json")

    assert response.headers["Content-Type"].startswith("application/json")
    assert response.json() == DOCUMENT
    assert DOCUMENT["openapi"].startswith("3.1")


def test_every_route_but_the_web_pages_is_documented() -> None:
    undocumented = [route for route in all_routes() if route not in DOCUMENTED]

    assert {route.operation for route in undocumented} == {
        "get_api_page_file",
        "redirect_to_console",
        "get_console",
        "get_portal",
        "get_asset",
        "get_logo",
        "get_style",
    }
    assert {
        (shape(path), method) for path, methods in DOCUMENT["paths"].items() for method in methods
    } == {(shape(route.path), route.method.lower()) for route in DOCUMENTED}


@each_documented
def test_an_operation_names_its_role_actions_and_its_basis(route: Route) -> None:
    actions = ", ".join(route.role_actions) or "none"
    description = operation(route)["description"]

    assert f"Role actions, any one of: {actions}." in description
    assert f"Basis: {route.handler.opt['basis']}." in description
    assert description.splitlines()[0].strip(), "the first line is empty"


@each_documented
def test_an_operation_documents_whether_it_needs_a_token(route: Route) -> None:
    expected: list[Any] | None = None if route.is_public else [{"bearer": []}]

    assert operation(route).get("security") == expected


@each_documented
def test_an_operation_documents_its_responses(route: Route) -> None:
    statuses = set(operation(route)["responses"])
    refusals = {"400", "404", "408", "413", "415", "503"}
    refusals |= {"401", "403", "429"} if not route.is_public or route.is_mutating else set()
    may_conflict = route.is_mutating or "credentials" in route.operation
    refusals |= {"409"} if may_conflict else set()
    refusals |= {"412"} if route.is_mutating and "versioned" in route.handler.opt else set()

    assert statuses == refusals | {str(route.handler.status_code)}


@each_documented
def test_an_operation_documents_its_body_and_parameters(route: Route) -> None:
    documented = operation(route)
    body = documented.get("requestBody", {}).get("content", {})
    parameters = {
        (parameter["in"], parameter["name"]) for parameter in documented.get("parameters", [])
    }

    path_names = [name for location, name in parameters if location == "path"]
    assert sorted(path_names) == sorted(re.findall("{(.*?)}", PATHS[shape(route.path)]))
    assert len(path_names) == len(route.path_names)
    assert (("header", "Idempotency-Key") in parameters) == (
        route.is_mutating and not route.is_public
    )
    if route.body is not None:
        own = {"$ref": f"#/components/schemas/{route.body.__name__}"}
        optional = "role_actions_with_body" in route.handler.opt
        schema = {"oneOf": [own, {"type": "null"}]} if optional else own
        assert body["application/json"] == {"schema": schema}
        forms = FORM_TYPES if "forms" in route.handler.opt else ()
        files = ("multipart/form-data",) if "uploads" in route.handler.opt else ()
        assert set(body) == {"application/json", *files}
        assert_described(documented, forms)
    else:
        reads = route.handler.opt.get("reads", {})
        assert set(body) <= set(reads)
        assert_described(documented, set(reads) - set(body))


def assert_described(documented: dict[str, Any], content_types: Iterable[str]) -> None:
    """Content types with the schema of another one are named in the text."""
    text = documented.get("requestBody", {}).get("description", "")
    assert [each for each in content_types if not re.search(rf"\b{each}\b", text)] == []


# required fields that accept null: null removes the link, and ends the last band
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
def test_null_in_an_optional_field_means_absent(body: type[msgspec.Struct]) -> None:
    optional = [f.encode_name for f in msgspec.structs.fields(body) if not f.required]
    required = [f.encode_name for f in msgspec.structs.fields(body) if f.required]
    broken = broken_fields(body, dict.fromkeys(optional))

    assert not broken & set(optional)
    assert broken >= set(required)
    never_null = {name for name in required if (body.__name__, name) not in NULL_IS_A_VALUE}
    assert broken_fields(body, dict.fromkeys([*optional, *required])) >= never_null


def broken_fields(body: type[msgspec.Struct], request: dict[str, Any]) -> set[str]:
    try:
        parse_body(body, request)
    except Invalid as refusal:
        return {violation.field for violation in refusal.violations}
    return set()


def test_operation_ids_are_unique() -> None:
    ids = [
        documented["operationId"]
        for methods in DOCUMENT["paths"].values()
        for documented in methods.values()
    ]

    assert len(ids) == len(DOCUMENTED)
    assert len(set(ids)) == len(ids)


def test_every_reference_has_a_target() -> None:
    references = {value for key, value in walk_document(DOCUMENT) if key == "$ref"}

    assert references
    for reference in references:
        assert resolve({"$ref": reference})


def list_leaks(document: Any) -> list[str]:
    """Examples, secrets, and paths of the machine that made the document."""
    complaints = [
        f"{key} is an example"
        for key, _ in walk_document(document)
        if key in ("example", "examples")
    ]
    text = json.dumps(document)
    for pattern in (
        r"nb_cs_",
        r"nb_rt_",
        r"eyJ[A-Za-z0-9_-]{8,}",
        r"BEGIN [A-Z ]*KEY",
        r"/home/",
        r"/src/",
    ):
        complaints += [f"the document contains {pattern}" for _ in re.findall(pattern, text)]
    return complaints


def test_the_document_has_no_examples_and_no_secrets() -> None:
    assert list_leaks(DOCUMENT) == []


def test_a_leak_is_found() -> None:
    assert list_leaks({"schema": {"example": "x"}}) == ["example is an example"]
    assert list_leaks({"default": "nb_cs_abc"}) == ["the document contains nb_cs_"]
    assert list_leaks({"d": "Bearer eyJhbGciOiJFUzI1NiJ9"}) != []


def test_exact_decimals_are_numbers() -> None:
    setting = DOCUMENT["components"]["schemas"]["InvoiceSetting"]["properties"]

    assert setting["discount_rate"]["type"] == "number"
    assert setting["currency"]["type"] == "string"


def test_the_document_describes_itself_as_an_object() -> None:
    response = DOCUMENT["paths"]["/openapi.json"]["get"]["responses"]["200"]

    assert response["content"]["application/json"]["schema"]["type"] == "object"


# ── what generators of client code need ──────────────────────────────────────────────────────────


def walk_schemas(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from walk_schemas(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk_schemas(item)


def test_no_field_has_the_type_null_alone() -> None:
    """openapi-generator for Python fails on it, and for TypeScript names a type `Null`."""
    fields = [
        name
        for schema in walk_schemas(DOCUMENT)
        for name, field in schema.get("properties", {}).items()
        if isinstance(field, dict) and field.get("type") == "null"
    ]

    assert fields == []
    for schema in ("CloudAccountRecord", "InvoiceListAccount"):
        assert accepts_null(
            DOCUMENT["components"]["schemas"][schema]["properties"]["service_discount"]
        )


def test_every_array_says_what_it_contains() -> None:
    arrays = [schema for schema in walk_schemas(DOCUMENT) if schema.get("type") == "array"]

    assert [array for array in arrays if "items" not in array or "prefixItems" in array] == []
    table = DOCUMENT["components"]["schemas"]["Terms"]["properties"]["usage_table"]
    assert table["items"] == {
        "type": "array",
        "items": {"oneOf": [{"type": "number"}, {"type": "null"}]},
        "minItems": 2,
        "maxItems": 2,
    }


def test_no_schema_has_the_name_of_a_class_that_generators_add() -> None:
    names = {"ApiClient", "ApiException", "ApiResponse", "Client", "Configuration", "Response"}

    assert names & set(DOCUMENT["components"]["schemas"]) == set()


def test_the_bodies_of_an_operation_are_different_schemas() -> None:
    """openapi-python-client finds the content type by the class of the body."""
    for methods in DOCUMENT["paths"].values():
        for documented in methods.values():
            content = documented.get("requestBody", {}).get("content", {})
            references = [media["schema"].get("$ref") for media in content.values()]
            references = [reference for reference in references if reference]
            assert len(references) == len(set(references)), documented["operationId"]


def test_a_token_endpoint_has_one_body_and_documents_its_refusal_first() -> None:
    """Generated clients read the first content type of a response."""
    for path, content_type in (
        ("/core/access_token", "application/x-www-form-urlencoded"),
        ("/access_token", "application/x-www-form-urlencoded"),
        ("/v3/access_token", "application/json"),  # version 3
    ):
        documented = DOCUMENT["paths"][path]["post"]

        assert list(documented["requestBody"]["content"]) == [content_type]
        refusal = documented["responses"]["401"]["content"]
        assert list(refusal) == ["application/json", "application/problem+json"]


def test_no_two_paths_differ_only_in_the_names_of_parameters() -> None:
    assert len(PATHS) == len(DOCUMENT["paths"])
    assert set(DOCUMENT["paths"]["/m/core/project/{project_id_or_month}"]) == {
        "get",
        "post",
        "delete",
    }


@pytest.mark.parametrize("name", ["InvoiceSetting", "MonthlyInvoiceSetting", "VendorInvoiceData"])
def test_every_term_of_an_invoice_is_explained_with_its_values(name: str) -> None:
    fields = DOCUMENT["components"]["schemas"][name]["properties"]

    for term in ALLOWED_VALUES:
        assert "Allowed" in fields[term]["description"], term
        assert fields[term].keys() >= {"enum"} or fields[term].keys() >= {"minimum", "maximum"}
    assert fields["support_fee"]["enum"] == [
        "fix",
        "percent",
        "aws_developer",
        "aws_business",
        "aws_enterprise",
    ]
    assert "for azure one of percent, fix" in fields["support_fee"]["description"]
    assert (fields["tax_rate"]["minimum"], fields["tax_rate"]["maximum"]) == (0, 0.1)
