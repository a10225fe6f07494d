"""The OpenAPI document, made from the routes and what they declare."""

from typing import Any

from litestar import Litestar
from litestar._openapi.plugin import OpenAPIPlugin  # the public way would serve routes of its own
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme, Server

import nimbill
from nimbill import exact_json
from nimbill.access.guards import MUTATING, Public, own_routes

PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "instance"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "instance": {"type": "string"},
        "violations": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "rule"],
                "properties": {"field": {"type": "string"}, "rule": {"type": "string"}},
            },
        },
    },
}

_REFUSALS = {
    400: "A rule is broken or the request cannot be read.",
    401: "No token, or one that does not stand.",
    403: "The caller lacks the role action.",
    404: "Not there, or not the caller's.",
    408: "The body took too long.",
    409: "The request is sound but the records forbid it.",
    413: "The body is too large.",
    415: "The body is of a kind this path does not read.",
    429: "Too many requests; Retry-After says when to come back.",
    503: "The database cannot be reached; Retry-After says when to come back.",
}


def openapi_document(app: Litestar, base_url: str) -> bytes:
    """The document as JSON, with the refusals every route shares."""
    plugin = OpenAPIPlugin(app)
    plugin._openapi_config = OpenAPIConfig(
        title="Nimbill",
        version=nimbill.__version__,
        description="Cloud-cost billing for resellers.",
        servers=[Server(url=base_url)],
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(type="http", scheme="bearer", bearer_format="JWT")
            }
        ),
        use_handler_docstrings=True,
        create_examples=False,
    )
    for route in app.routes:
        plugin.receive_route(route)
    document = plugin.provide_openapi_schema()
    document["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    for path, handler in own_routes(app):
        for method in handler.http_methods:
            operation = document["paths"].get(path, {}).get(method.lower())
            if operation is not None:
                _complete(operation, method, handler.opt)
    return exact_json.write(document)


def _complete(operation: dict[str, Any], method: str, opt: dict[str, Any]) -> None:
    public = isinstance(opt["audiences"], Public)
    operation["description"] = _description(operation.get("description", ""), opt)
    if not public:
        operation["security"] = [{"bearer": []}]
    refusals = _REFUSALS.items()
    for status, description in refusals:
        if (public and status in (401, 403, 429)) or (method not in MUTATING and status == 409):
            continue
        operation["responses"][str(status)] = {
            "description": description,
            "content": {
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
            },
        }


def _description(text: str, opt: dict[str, Any]) -> str:
    actions = ", ".join(opt["role_actions"]) or "none"
    return f"{text}\n\nRole actions, any one of: {actions}. Basis: {opt['basis']}."
