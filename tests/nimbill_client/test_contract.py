"""Each method of the client sends and reads what the OpenAPI document describes."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import string
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import pytest

from nimbill_client import Client, exact_json
from nimbill_client.connection import TOKEN_PATH, Call
from nimbill_client.record import Record
from nimbill_client.tokens import TokenResponse
from tests.contract.declared_routes import declared_app
from tests.nimbill_client.method_calls import METHOD_CALLS
from tests.nimbill_client.recorded_calls import (
    find_operation,
    find_response,
    record_client,
    resolve,
)

CLIENT = Path(__file__).parents[2] / "client"

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
    table = re.findall(r"^\| `(\w+)` \| (.*) \|$", (CLIENT / "README.md").read_text(), re.MULTILINE)
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
            if not isinstance(call.body, Record):
                assert find_unsent_fields(sent, schema) == set()
        else:
            assert content == {}


@each_method
def test_a_method_reads_the_documented_type(method: str) -> None:
    for call, result in record_calls(method):
        content = find_response(document(), call)
        if result is None:
            assert not {"application/pdf", "application/zip", "text/csv"}.isdisjoint(content)
        else:
            schema = content["application/json"]["schema"]
            own = schema["oneOf"][0] if call.operation in ONLY_FIRST_RESPONSE else schema
            assert name_type(result) == name_schema(own)


def test_tokens_are_read_as_documented() -> None:
    call = Call(method="POST", path=TOKEN_PATH, form={})
    schema = find_response(document(), call)["application/json"]["schema"]

    assert set(TokenResponse.__struct_fields__) <= set(resolve(document(), schema)["required"])


def test_the_classes_of_the_client_are_those_of_the_document() -> None:
    build_bodies = runpy.run_path(str(CLIENT / "generate_bodies.py"))["build_bodies"]
    bodies = CLIENT / "src" / "nimbill_client" / "bodies.py"

    written = build_bodies(declared_app().state.build_openapi_document())

    assert bodies.read_text() == written, "Run make web-types and commit the result."


def name_type(kind: Any) -> str:
    return f"list[{get_args(kind)[0].__name__}]" if get_origin(kind) is list else kind.__name__


def name_schema(schema: dict[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list[{name_schema(schema['items'])}]"
    name: str = resolve(document(), schema)["title"]
    return name


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


def test_an_undocumented_field_is_found() -> None:
    schema = {"$ref": "#/components/schemas/ImportRelease"}

    assert find_differences({"reason": "x", "why": "y"}, schema, "b") == ["b.why is not documented"]
    assert find_differences({}, schema, "b") == ["b.reason is required"]
    assert find_differences({"reason": 1}, schema, "b") == ["b.reason: 1 is not string"]


def test_a_vendor_of_another_form_is_found() -> None:
    schema = document()["components"]["schemas"]["CloudAccountCreate"]["properties"]["vendor"]

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
