"""Each method of the client sends and reads what the OpenAPI document describes."""

from __future__ import annotations

import inspect
import json
import re
import string
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from nimbill_client import Client, exact_json
from nimbill_client.connection import TOKEN_PATH, Call
from nimbill_client.record import Record, Success
from nimbill_client.tokens import TokenResponse
from tests.contract.declared_routes import declared_app
from tests.nimbill_client.method_calls import METHOD_CALLS
from tests.nimbill_client.recorded_calls import (
    find_operation,
    find_response,
    record_client,
    resolve,
)

README = Path(__file__).parents[2] / "client" / "README.md"

each_method = pytest.mark.parametrize("method", METHOD_CALLS)

JSON_TYPES: dict[Any, set[str]] = {
    str: {"string"},
    bool: {"boolean"},
    int: {"integer"},
    Decimal: {"number", "integer"},
    NoneType: {"null"},
}
# Without a body it lists, which the client never asks for.
ONLY_FIRST_RESPONSE = ("POST /m/core/reseller",)


@cache
def document() -> dict[str, Any]:
    built: dict[str, Any] = json.loads(declared_app().state.build_openapi_document())
    return built


@cache
def record_calls(method: str) -> list[tuple[Call, Any]]:
    client, recorded = record_client(document())
    METHOD_CALLS[method](client)
    return recorded.calls


def list_public_methods() -> Iterator[str]:
    client, _ = record_client(document())
    for name, resource in vars(client).items():
        if not name.startswith("_"):
            for method, _ in inspect.getmembers(resource, inspect.ismethod):
                if not method.startswith("_"):
                    yield f"{name}.{method}"


def test_every_method_is_compared_with_the_document() -> None:
    called = {name.partition(" ")[0] for name in METHOD_CALLS}

    assert sorted(list_public_methods()) == sorted(called)


def test_the_readme_names_every_method() -> None:
    table = re.findall(r"^\| `(\w+)` \| (.*) \|$", README.read_text(), re.MULTILINE)
    named = {
        f"{name}.{method}" for name, methods in table for method in re.findall(r"\w+", methods)
    }

    assert named == set(list_public_methods())


@each_method
def test_a_method_sends_documented_parameters(method: str) -> None:
    for call, _ in record_calls(method):
        documented = find_operation(document(), call).get("parameters", [])
        query = {each["name"]: each for each in documented if each["in"] == "query"}
        path_names = {name for _, name, _, _ in string.Formatter().parse(call.path) if name}

        assert call.link is not None or set(call.ids) == path_names
        assert set(call.query) <= set(query)
        for name, parameter in query.items():
            value = call.query.get(name)
            assert value is not None or not parameter.get("required"), name
            if value is not None:
                assert find_differences(value, parameter["schema"], name) == []


@each_method
def test_a_method_sends_documented_fields(method: str) -> None:
    for call, _ in record_calls(method):
        content = find_operation(document(), call).get("requestBody", {}).get("content", {})

        if call.csv is not None:
            assert "text/csv" in content
        elif call.form is not None:
            sent = {**call.form, "file": [file.name for file in call.files]}
            schema = content["multipart/form-data"]["schema"]
            assert find_differences(sent, schema, "form") == []
        elif call.body is not None:
            sent = json.loads(exact_json.encode(call.body), parse_float=Decimal)
            schema = content["application/json"]["schema"]
            assert find_differences(sent, schema, "body") == []
            assert find_unsent_fields(sent, schema) == set()
        else:
            assert content == {}


@each_method
def test_a_method_reads_documented_fields(method: str) -> None:
    for call, result in record_calls(method):
        content = find_response(document(), call)
        if result is None:
            assert not {"application/pdf", "application/zip", "text/csv"}.isdisjoint(content)
        else:
            schema = content["application/json"]["schema"]
            assert list(compare_type(result, schema, call.operation)) == []


def test_tokens_are_read_as_documented() -> None:
    call = Call(method="POST", path=TOKEN_PATH, form={})
    schema = find_response(document(), call)["application/json"]["schema"]

    assert list(compare_type(TokenResponse, schema, "token")) == []


def find_differences(value: Any, schema: dict[str, Any], place: str) -> list[str]:
    """Compare a value that is sent with its schema. Fields that are not documented differ too."""
    schema = resolve(document(), schema)
    members = schema.get("oneOf") or schema.get("anyOf")
    if members:
        return min((find_differences(value, each, place) for each in members), key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{place}: {value} is not allowed"]
    kind = schema.get("type")
    if isinstance(value, dict) and kind == "object":
        return list(find_differences_of_fields(value, schema, place))
    if isinstance(value, list) and kind == "array":
        items = schema.get("items", {})
        return [each for item in value for each in find_differences(item, items, place)]
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        return [f"{place}: {value} is not allowed"]
    kinds = JSON_TYPES.get(type(value), {"object"}) | ({"number"} if type(value) is int else set())
    return [] if kind is None or kind in kinds else [f"{place}: {value!r} is not {kind}"]


def find_differences_of_fields(
    value: dict[str, Any], schema: dict[str, Any], place: str
) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in set(schema.get("required", [])) - value.keys():
        yield f"{place}.{name} is required"
    for name, item in value.items():
        if name in properties:
            yield from find_differences(item, properties[name], f"{place}.{name}")
        elif schema.get("additionalProperties"):
            yield from find_differences(item, schema["additionalProperties"], f"{place}.{name}")
        elif properties:
            yield f"{place}.{name} is not documented"


def find_unsent_fields(sent: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    """Documented fields that the method cannot send."""
    schema = resolve(document(), schema)
    own = schema["oneOf"][0] if "oneOf" in schema else schema
    return set(resolve(document(), own).get("properties", {})) - sent.keys()


def compare_type(kind: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    """Compare a type that is read with its schema: the type must accept every documented value."""
    schema = resolve(document(), schema)
    if kind is Any:
        return
    if "oneOf" in schema:
        members = schema["oneOf"][:1] if place in ONLY_FIRST_RESPONSE else schema["oneOf"]
        for member in members:
            yield from compare_type(kind, member, place)
    elif "anyOf" in schema:
        for member in schema["anyOf"]:
            yield from compare_type(kind, member, place)
    elif is_union(kind):
        yield from compare_member(kind, schema, place)
    elif get_origin(kind) is list and schema.get("type") == "array":
        if "prefixItems" not in schema.get("items", {}):
            yield from compare_type(get_args(kind)[0], schema.get("items", {}), f"{place}[]")
    elif get_origin(kind) is dict and schema.get("type") == "object":
        values = schema.get("additionalProperties") or {}
        yield from compare_type(get_args(kind)[1], values, f"{place}{{}}")
    elif get_origin(kind) is Literal:
        if not set(schema.get("enum", ["?"])) <= set(get_args(kind)):
            yield f"{place}: {kind} does not accept {schema}"
    elif isinstance(kind, type) and issubclass(kind, Record):
        yield from compare_record(kind, schema, place)
    elif schema.get("type") not in JSON_TYPES.get(kind, set()) and "enum" not in schema:
        yield f"{place}: {kind} does not accept {schema}"


def is_union(kind: Any) -> bool:
    return isinstance(kind, UnionType) or str(get_origin(kind)) == "typing.Union"


def compare_member(kind: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    """One member of the union accepts the schema."""
    results = [list(compare_type(member, schema, place)) for member in get_args(kind)]
    yield from min(results, key=len)


def compare_record(kind: type[Record], schema: dict[str, Any], place: str) -> Iterator[str]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    hints = get_type_hints(kind)
    if kind is not Success and not is_same_name(kind, schema):
        yield f"{place}: {kind.__name__} is called {schema.get('title')}"
    for field in msgspec.structs.fields(kind):
        where = f"{place}.{field.name}"
        if field.name not in properties:
            yield f"{where} is not documented"
        elif field.required and field.name not in required:
            yield f"{where} may be absent"
        else:
            yield from compare_type(hints[field.name], properties[field.name], where)
    for name in properties.keys() - {field.name for field in msgspec.structs.fields(kind)}:
        if (kind.__name__, name) not in UNREAD_FIELDS and name != "status":
            yield f"{place}.{name} is not read"


UNREAD_FIELDS = {("TokenResponse", "token_type"), ("TokenResponse", "id_token")}


def is_same_name(kind: type[Record], schema: dict[str, Any]) -> bool:
    schemas: dict[str, Any] = document()["components"]["schemas"]
    return bool(schemas.get(kind.__name__) == schema)


@pytest.mark.parametrize(
    ("kind", "difference"),
    [
        (dict[str, int], "does not accept"),
        (list[str], "does not accept"),
        (Success, "is not documented"),
    ],
)
def test_a_difference_is_found(kind: Any, difference: str) -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "additionalProperties": {},
    }
    schema["additionalProperties"] = {"type": "string"}

    assert difference in "".join(compare_type(kind, schema, "place"))


def test_an_undocumented_field_is_found() -> None:
    schema = {"$ref": "#/components/schemas/ImportRelease"}

    assert find_differences({"reason": "x", "why": "y"}, schema, "b") == ["b.why is not documented"]
    assert find_differences({}, schema, "b") == ["b.reason is required"]
    assert find_differences({"reason": 1}, schema, "b") == ["b.reason: 1 is not string"]


def test_a_vendor_is_any_name_of_the_documented_form() -> None:
    schema = document()["components"]["schemas"]["CloudAccountCreate"]["properties"]["vendor"]

    assert list(compare_type(str, schema, "vendor")) == []
    assert list(compare_type(Literal["aws", "azure"], schema, "vendor")) != []
    assert list(compare_type(int, schema, "vendor")) != []
    assert find_differences("aws", schema, "vendor") == []
    assert find_differences("oracle", schema, "vendor") == []
    assert find_differences("Oracle", schema, "vendor") == ["vendor: Oracle is not allowed"]
    assert find_differences(7, schema, "vendor") == ["vendor: 7 is not allowed"]


def test_the_client_has_no_other_public_attributes() -> None:
    client, _ = record_client(document())

    assert isinstance(client, Client)
    assert {name.partition(".")[0] for name in METHOD_CALLS} == {
        name for name in vars(client) if not name.startswith("_")
    }
