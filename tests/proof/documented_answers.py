"""Checks whether a response is documented in OpenAPI and safe to show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from tests.path_shapes import shape_of
from tests.proof.asgi_calls import Answer, Request
from tests.proof.hostile_values import CANARY

SECONDS_MAX = 60  # a watchdog against requests that hang, also while other tests use the machine
PROBLEM = "application/problem+json"
# the name of an unknown display flag is the only sent text that an error repeats
UNKNOWN_FLAG = re.compile(rb'"field": "meta\.[A-Za-z][A-Za-z0-9_]{0,63}"')
ALWAYS = ("x-request-id", "x-content-type-options", "referrer-policy", "cache-control")


class DocumentedResponses:
    """Lists what is wrong with a response, one readable line each."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._paths = {shape_of(path): item for path, item in document["paths"].items()}
        self._components = document["components"]
        self._validators: dict[str, jsonschema_rs.Validator] = {}  # by content
        self._validators_by_id: dict[int, jsonschema_rs.Validator] = {}  # of the document's objects
        self._problem = self._compile({"$ref": "#/components/schemas/Problem"})

    def operations(self) -> set[tuple[str, str]]:
        """Methods, and paths without the names of parameters."""
        return {(method, path) for path, methods in self._paths.items() for method in methods}

    def find_faults(self, request: Request, answer: Answer) -> Iterator[str]:
        if answer.status >= 500:
            yield f"a {answer.status}"
        if answer.seconds > SECONDS_MAX:
            yield f"{answer.seconds:.0f} seconds"
        missing = [name for name in ALWAYS if name not in answer.headers]
        if missing:
            yield f"no {', '.join(missing)}"
        if answer.status >= 400 and CANARY.encode() in UNKNOWN_FLAG.sub(b"", answer.body):
            yield "the response repeats a sent value"
        if answer.status in (429, 503) and "retry-after" not in answer.headers:
            yield f"{answer.status} without Retry-After"
        if answer.status == 401 and "www-authenticate" not in answer.headers:
            yield "401 without WWW-Authenticate"
        path = shape_of(answer.path_template or "")
        operation = self._paths.get(path, {}).get(request.method.lower())
        if operation is not None:
            yield from self._find_undocumented(operation, answer)
        elif answer.status >= 400:
            yield from self._check_problem(answer)

    def _find_undocumented(self, operation: Mapping[str, Any], answer: Answer) -> Iterator[str]:
        documented = operation["responses"].get(str(answer.status))
        if documented is None:
            yield f"{answer.status} is not documented"
            return
        kind = answer.headers.get("content-type", "").partition(";")[0]
        content = {
            name.partition(";")[0]: media_type
            for name, media_type in documented.get("content", {}).items()
        }
        if content and kind not in content:
            yield f"{answer.status} as {kind or 'no type'}, documented as {', '.join(content)}"
        elif kind.endswith("json") and "schema" in content.get(kind, {}):
            yield from self._schema_errors(self._validator(content[kind]["schema"]), answer)
        if kind == PROBLEM:
            yield from self._check_problem(answer)

    def _check_problem(self, answer: Answer) -> Iterator[str]:
        if not answer.headers.get("content-type", "").startswith(PROBLEM):
            yield f"{answer.status} is not problem details"
            return
        errors = list(self._schema_errors(self._problem, answer))
        yield from errors
        if not errors and answer.json()["status"] != answer.status:
            yield f"{answer.status} has the status {answer.json()['status']} in its body"

    def _validator(self, schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
        """`schema` is an object of the document, which stays as long as this object."""
        validator = self._validators_by_id.get(id(schema))
        if validator is None:
            validator = self._validators_by_id[id(schema)] = self._compile(schema)
        return validator

    def _compile(self, schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
        """Compiled once for each content: most responses have one of a few schemas."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            complete_schema = {**schema, "components": self._components}
            self._validators[key] = jsonschema_rs.Draft202012Validator(complete_schema)
        return self._validators[key]

    def _schema_errors(self, validator: jsonschema_rs.Validator, answer: Answer) -> Iterator[str]:
        try:
            value = json.loads(answer.body)
        except ValueError:
            yield f"{answer.status} with a body that is not JSON"
            return
        for error in validator.iter_errors(value):
            place = "/".join(str(key) for key in error.instance_path)
            yield f"{answer.status} breaks its schema at “{place}”: {error.message[:120]}"
            return
