"""The schemas of the OpenAPI document, which is generated from the bodies in the code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.contract.declared_routes import declared_app

Schema = dict[str, Any]

# a type as the tables of the specification name it
TYPE = r"(string|boolean|integer|number|double|object|array)s?\b"


@cache
def read_document() -> Schema:
    document: Schema = json.loads(declared_app().state.build_openapi_document())
    return document


def find_operation(method: str, path: str) -> Schema:
    operation: Schema = read_document()["paths"][path][method.lower()]
    return operation


def find_schema(name: str) -> Schema:
    schema: Schema = read_document()["components"]["schemas"][name]
    return schema


def request_fields(operation: Schema) -> dict[str, tuple[Schema, bool]]:
    """Schema and requiredness of each field of the body and of each parameter in the query."""
    found = {
        parameter["name"]: (parameter["schema"], parameter.get("required", False))
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    }
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for schema in list_alternatives(content["schema"]):
            required = schema.get("required", ())
            for name, field in schema.get("properties", {}).items():
                found[name] = (field, name in required)
    return found


def response_schema(operation: Schema, status: str) -> Schema:
    content = operation["responses"][status].get("content", {})
    schema: Schema = content.get("application/json", {}).get("schema", {})
    return schema


def list_alternatives(schema: Schema) -> Iterator[Schema]:
    """The schema itself without references, or each schema that it allows."""
    if "$ref" in schema:
        yield from list_alternatives(find_schema(schema["$ref"].rpartition("/")[2]))
    elif alternatives := schema.get("oneOf") or schema.get("anyOf"):
        limits = {key: value for key, value in schema.items() if key.endswith("Length")}
        for each in alternatives:
            yield from list_alternatives(each | limits)
    else:
        yield schema


def list_types(schema: Schema) -> set[str]:
    """The JSON types; a schema without a type allows an object."""
    types: set[str] = set()
    for each in list_alternatives(schema):
        stated = each.get("type", "object")
        types |= {stated} if isinstance(stated, str) else set(stated)
    return types


def list_values(schema: Schema) -> list[str]:
    """The words that a schema allows, or nothing if it does not list them."""
    return [
        str(value)
        for each in list_alternatives(schema)
        for value in each.get("enum", [each["const"]] if "const" in each else [])
        if value is not None
    ]


def list_lengths(schema: Schema) -> set[tuple[int, int]]:
    """Least and greatest length of the texts that a schema allows."""
    return {
        (each.get("minLength", 0), each["maxLength"])
        for each in list_alternatives(schema)
        if "maxLength" in each
    }


def list_property_names(schema: Schema, seen: frozenset[str] = frozenset()) -> set[str]:
    """The names of all fields of a schema and of the objects in it."""
    names: set[str] = set()
    for each in list_alternatives(schema):
        title = each.get("title", "")
        if title and title in seen:
            continue
        inner = [*each.get("properties", {}).values()]
        inner += [part for key in ("items", "additionalProperties") if (part := each.get(key))]
        names |= set(each.get("properties", {}))
        for part in inner:
            if isinstance(part, dict):
                names |= list_property_names(part, seen | {title})
    return names
