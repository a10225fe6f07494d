"""The OpenAPI document, made from the routes and what they declare."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
from litestar import Litestar
from litestar._openapi.plugin import OpenAPIPlugin  # the public way would serve routes of its own
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, OpenAPIType, Schema, SecurityScheme, Server
from litestar.plugins import OpenAPISchemaPlugin

import nimbill
from nimbill.access.gate import MUTATING, Public, own_routes
from nimbill.foundation import exact_json
from nimbill.http import idempotency
from nimbill.http.deprecation import Deprecation
from nimbill.http.forms import FORM_TYPES

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

IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": idempotency.HEADER,
    "in": "header",
    "required": False,
    "description": "A repeat with the same key gets the first answer.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}

SCHEMAS = "#/components/schemas/"

SERVICE = "The service itself"
# tags of packages whose own name would not say enough
TAGS = {
    "audit_routes": "Audit log",
    "login": "Tokens and sessions",
    "pdf": "Invoices",
    "profit": "Invoices",
    "rbac": "Roles and permissions",
    "reconciliation": "Invoices",
    "runs": "Invoices",
    "service_routes": SERVICE,
    "users": "Subusers and API clients",
}

# the fields are those of the JSON body, but for where the files lie: they come along
UPLOAD = {
    "type": "object",
    "properties": {
        "vendor": {"type": "string", "enum": ["aws", "azure", "gcp"]},
        "month": {"type": "string"},
        "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
    },
    "required": ["vendor", "file"],
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


class ExactNumbers(OpenAPISchemaPlugin):
    """Decimals stand in bodies as JSON numbers; the framework would call them texts."""

    @staticmethod
    def is_plugin_supported_type(value: Any) -> bool:
        return value is Decimal

    def to_openapi_schema(self, field_definition: Any, schema_creator: Any) -> Schema:  # noqa: ARG002
        return Schema(type=OpenAPIType.NUMBER)


def openapi_document(app: Litestar, base_url: str, deprecations: Sequence[Deprecation]) -> bytes:
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
                _add_schemas(document, _by_hand(handler.opt))
                _name(operation, handler)
                _complete(operation, method, handler.opt)
                for deprecation in deprecations:
                    if deprecation.covers(path):
                        _deprecate(operation, deprecation)
    document["tags"] = _tags(document)
    _rewrite_literals(document)
    return exact_json.write(document)


def _rewrite_literals(node: Any) -> None:
    """Document a `Literal` like an enum, also where it has one value or may be null."""
    if isinstance(node, list):
        for item in node:
            _rewrite_literals(item)
    elif isinstance(node, dict):
        if isinstance(node.get("const"), str):
            node["enum"] = [node.pop("const")]
        if isinstance(node.get("enum"), list) and None in node["enum"]:
            values = [value for value in node.pop("enum") if value is not None]
            del node["type"]
            node["oneOf"] = [{"type": "string", "enum": values}, {"type": "null"}]
        for value in node.values():
            _rewrite_literals(value)


def _name(operation: dict[str, Any], handler: HTTPRouteHandler) -> None:
    """Summary from the docstring; tag from the package unless the route declares one."""
    operation.setdefault("tags", [_tag(handler.fn.__module__)])
    does, _, more = operation.get("description", "").partition("\n")
    operation["summary"] = re.sub(r"`(.*?)`", r"“\1”", does.strip().rstrip("."))  # plain text
    operation["description"] = more.strip()


def _tag(module: str) -> str:
    """`nimbill.customers.billing_groups.routes` is tagged "Billing groups"."""
    _, package, *rest = module.split(".")
    if package == "application":
        name = rest[-1]
    elif len(rest) == 1:
        name = package
    else:
        name = rest[0]
    return TAGS.get(name, name.replace("_", " ").capitalize())


def _tags(document: dict[str, Any]) -> list[dict[str, str]]:
    """In the order of the routes; what is about the service itself comes last."""
    operations = [one for path in document["paths"].values() for one in path.values()]
    names = dict.fromkeys(one["tags"][0] for one in operations)
    return [{"name": name} for name in sorted(names, key=lambda name: name == SERVICE)]


def _add_schemas(document: dict[str, Any], kinds: set[type[msgspec.Struct]]) -> None:
    """Of bodies that a route reads or refuses with by hand."""
    for kind in sorted(kinds, key=lambda kind: kind.__name__):
        _, schemas = msgspec.json.schema_components([kind], ref_template=f"{SCHEMAS}{{name}}")
        for name, schema in schemas.items():
            document["components"]["schemas"].setdefault(name, schema)


def _by_hand(opt: dict[str, Any]) -> set[type[msgspec.Struct]]:
    return {*opt.get("reads", {}).values(), *([opt["refusal"]] if "refusal" in opt else [])}


def _complete(operation: dict[str, Any], method: str, opt: dict[str, Any]) -> None:
    public = isinstance(opt["audiences"], Public)
    operation["description"] = _description(operation.get("description", ""), opt)
    if not public:
        operation["security"] = [{"bearer": []}]
        if method in MUTATING:
            operation["parameters"] = [*operation.get("parameters", []), IDEMPOTENCY_KEY]
    if "reads" in opt:
        content = {kind: {"schema": _schema(body.__name__)} for kind, body in opt["reads"].items()}
        operation["requestBody"] = {"content": content, "required": method != "DELETE"}
    if "uploads" in opt:
        # the body is one of the two, and never absent
        content = operation["requestBody"]["content"]
        own = content["application/json"]["schema"]["oneOf"][0]
        both: dict[str, Any] = {"application/json": own, "multipart/form-data": UPLOAD}
        content = {kind: {"schema": schema} for kind, schema in both.items()}
        operation["requestBody"] = {"content": content, "required": True}
    if "forms" in opt and "reads" not in opt:
        content = operation["requestBody"]["content"]
        content |= dict.fromkeys(FORM_TYPES, content["application/json"])
    if "may_be_empty" in opt:
        nothing = {"schema": {"type": "string", "maxLength": 0}}
        operation["responses"]["200"]["content"]["text/plain"] = nothing
    refusal = {"application/problem+json": {"schema": _schema("Problem")}}
    if "refusal" in opt:
        refusal["application/json"] = {"schema": _schema(opt["refusal"].__name__)}
    unlikely = set() if method in MUTATING else {409} | ({401, 403, 429} if public else set())
    for status, description in _REFUSALS.items():
        if status not in unlikely:
            operation["responses"][str(status)] = {"description": description, "content": refusal}


def _deprecate(operation: dict[str, Any], deprecation: Deprecation) -> None:
    operation["deprecated"] = True
    since, until = deprecation.since.date(), deprecation.until.date()
    operation["description"] += f" Deprecated since {since}; it stays until {until}."


def _schema(name: str) -> dict[str, str]:
    return {"$ref": f"{SCHEMAS}{name}"}


def _description(text: str, opt: dict[str, Any]) -> str:
    actions = ", ".join(opt["role_actions"]) or "none"
    return f"{text}\n\nRole actions, any one of: {actions}. Basis: {opt['basis']}.".strip()
