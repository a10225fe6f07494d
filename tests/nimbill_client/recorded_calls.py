"""Calls every method of the client without a service, and records what would be sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from nimbill_client import Client, exact_json
from nimbill_client.connection import Call, Connection


@dataclass
class RecordedCalls:
    """`schemas` are the components of the OpenAPI document."""

    document: dict[str, Any]
    calls: list[tuple[Call, Any]] = field(default_factory=list)  # with the type of the result

    def fetch(self, result: Any, call: Call) -> Any:
        """Return a result as the document describes it."""
        self.calls.append((call, result))
        schema = find_response(self.document, call)["application/json"]["schema"]
        return exact_json.decode(exact_json.encode(self.build_example(schema)), result)

    def download(self, call: Call, file: Path) -> Path:
        self.calls.append((call, None))
        return file

    def build_example(self, schema: dict[str, Any]) -> Any:
        """Build a value with every documented field."""
        schema = resolve(self.document, schema)
        if "oneOf" in schema:
            return self.build_example(schema["oneOf"][0])
        if "anyOf" in schema:
            return self.build_example(schema["anyOf"][-1])  # a vendor that no list names
        if "enum" in schema:
            return schema["enum"][-1]  # the last state of an import is a final one
        match schema.get("type"):
            case "object":
                properties = schema.get("properties", {})
                example = {name: self.build_example(each) for name, each in properties.items()}
                values = schema.get("additionalProperties")
                return example or ({"key": self.build_example(values)} if values else {})
            case "array":
                items = schema.get("items", {})
                if "prefixItems" in items:
                    return [[self.build_example(each) for each in items["prefixItems"]]]
                return [self.build_example(items)]
            case kind:
                examples = {"string": "text", "integer": 7, "number": 1, "boolean": True}
                return examples.get(str(kind))


def resolve(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema or "allOf" in schema:
        if "allOf" in schema:
            (schema,) = schema["allOf"]  # a reference with a description
        else:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def find_operation(document: dict[str, Any], call: Call) -> dict[str, Any]:
    operation: dict[str, Any] = document["paths"][call.path][call.method.lower()]
    return operation


def find_response(document: dict[str, Any], call: Call) -> dict[str, Any]:
    """The content of the successful response, by media type."""
    responses = find_operation(document, call)["responses"]
    (status,) = [status for status in responses if status.startswith("2")]
    content: dict[str, Any] = responses[status]["content"]
    return content


def record_client(document: dict[str, Any]) -> tuple[Client, RecordedCalls]:
    """A client that sends nothing."""
    transport = httpx.MockTransport(lambda _: httpx.Response(500))
    client = Client(
        "https://billing.example.com", client_id="id", client_secret="secret", transport=transport
    )
    recorded = RecordedCalls(document)
    for connection in (client._connection, client._portal_connection):
        replaced: Any = connection
        replaced.fetch, replaced.download = recorded.fetch, recorded.download
        assert isinstance(connection, Connection)
    return client, recorded
