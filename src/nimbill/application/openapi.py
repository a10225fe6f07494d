"""Builds the OpenAPI document from the routes and their declarations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, OpenAPIType, Schema, SecurityScheme, Server
from litestar.plugins import OpenAPISchemaPlugin
from litestar.types import ControllerRouterHandler
from litestar.typing import FieldDefinition

import nimbill
from nimbill.access.gate import MUTATING, Public, iterate_routes
from nimbill.application.openapi_generators import rewrite_for_generators
from nimbill.customers.billing_groups.invoice_term_texts import (
    TERM_TEXTS,
    describe_term,
    restrict_values,
)
from nimbill.foundation import exact_json
from nimbill.foundation.vendor_names import BILLED_VENDORS, NAME_PATTERN, VENDORS, VendorRule
from nimbill.foundation.vendors import get_vendor_rule
from nimbill.http import idempotency, versions
from nimbill.http.deprecation import Deprecation
from nimbill.http.forms import FORM_TYPES
from nimbill.http.list_parameters import TOTAL_HEADER
from nimbill.http.response_links import ResponseLink, ResponseLinks
from nimbill.http.routing import DEPENDENCIES, ExactRequest, ExactResponse

# Members of the response to a correct password that a second step must follow.
SECOND_STEP_FIELDS: dict[str, Any] = {
    "sign_in_token": {"type": "string", "description": "the token of the second step"},
    "totp": {"type": "boolean", "description": "whether a code of an app can be sent"},
    "passkey": {
        "type": ["object", "null"],
        "description": "what a browser needs to let a passkey sign",
        "required": ["challenge", "rp_id", "credential_ids"],
        "properties": {
            "challenge": {"type": "string"},
            "rp_id": {"type": "string"},
            "credential_ids": {"type": "array", "items": {"type": "string"}},
        },
    },
}

PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "instance"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "instance": {"type": "string"},
        "etag": {"type": "string", "description": "412: the current version"},
        "changed_by": {"type": ["string", "null"], "description": "412: who changed it last"},
        "changed_at": {"type": ["string", "null"], "description": "412: when it was changed last"},
        **SECOND_STEP_FIELDS,
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

IDEMPOTENCY_PARAMETER: dict[str, Any] = {
    "name": idempotency.HEADER,
    "in": "header",
    "required": False,
    "description": "Repeating a request with the same key returns the first response.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}

IF_MATCH_PARAMETER: dict[str, Any] = {
    "name": versions.IF_MATCH,
    "in": "header",
    "required": False,
    "description": "The version that is changed, as ETag or `etag` named it; others are 412.",
    "schema": {"type": "string"},
}
ETAG_SCHEMA: dict[str, Any] = {
    "description": "The version of the object.",
    "schema": {"type": "string"},
}
TOTAL_SCHEMA: dict[str, Any] = {
    "description": "The number of records on all pages of this list.",
    "schema": {"type": "integer"},
}

SCHEMA_PREFIX = "#/components/schemas/"

SERVICE_TAG = "The service itself"
# Tags of packages whose name is not descriptive.
TAGS = {
    "audit_routes": "Audit log",
    "login": "Tokens and sessions",
    "me_routes": "Signed-in user",
    "pdf": "Invoices",
    "profit": "Invoices",
    "rbac": "Roles and permissions",
    "reconciliation": "Invoices",
    "runs": "Invoices",
    "second_factors": "Tokens and sessions",
    "service_routes": SERVICE_TAG,
    "steps": "Closing",
    "users": "Subusers and API clients",
}

# Names such as "Groups" or "Usage" would be ambiguous among the tags of billing administration.
ONE_TAG_PACKAGES = frozenset({"portal"})

ERROR_RESPONSES = {
    400: "The request is malformed or violates a rule.",
    401: "The token is missing, invalid or has been revoked.",
    403: "The caller does not have the required role action.",
    404: "The resource does not exist or is not visible to the caller.",
    408: "The request body did not arrive in time.",
    409: "The request conflicts with the current state of the resource.",
    413: "The request body is too large.",
    415: "The content type of the request body is not supported.",
    429: "Too many requests; retry after the time in Retry-After.",
    503: "The database or a limited resource is not available; see Retry-After.",
}


# A link of OpenAPI may have a `requestBody`, but published generators of clients accept only texts
# in it and refuse a document with objects.
LINK_BODY = "x-request-body"

BODY_DESCRIPTION = "The fields of the request that are known from here; the client adds the others."


class DecimalSchemaPlugin(OpenAPISchemaPlugin):
    """Documents decimals as JSON numbers; the framework would document them as strings."""

    @staticmethod
    def is_plugin_supported_type(value: Any) -> bool:
        return value is Decimal

    def to_openapi_schema(self, field_definition: Any, schema_creator: Any) -> Schema:  # noqa: ARG002
        return Schema(type=OpenAPIType.NUMBER)


class VendorSchemaPlugin(OpenAPISchemaPlugin):
    """Documents the known vendors, and that an organisation may enable others."""

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        return _find_rule(field_definition) is not None

    def to_openapi_schema(self, field_definition: Any, schema_creator: Any) -> Schema:  # noqa: ARG002
        rule = _find_rule(field_definition)
        assert rule is not None, "only vendors are supported"
        return Schema(any_of=_list_alternatives(rule))


def build_openapi_document(
    route_handlers: Sequence[ControllerRouterHandler],
    base_url: str,
    deprecations: Sequence[Deprecation],
    links: ResponseLinks,
) -> bytes:
    """Return the document as JSON.

    Litestar generates it from an application that is never served, because an application with an
    OpenAPI configuration also serves Litestar's own documentation routes.
    """
    app = Litestar(
        route_handlers,
        dependencies=DEPENDENCIES,
        request_class=ExactRequest,
        response_class=ExactResponse,
        openapi_config=_openapi_config(base_url),
        plugins=[DecimalSchemaPlugin(), VendorSchemaPlugin()],
        logging_config=None,
    )
    document = app.openapi_schema.to_schema()
    document["components"].setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
    operations: dict[str, dict[str, Any]] = {}
    for path, handler in iterate_routes(app):
        for method in handler.http_methods:
            operation = document["paths"].get(path, {}).get(method.lower())
            if operation is not None:
                operations[handler.fn.__name__] = operation
                _add_schemas(document, _undocumented_bodies(handler.opt))
                _add_summary(operation, handler)
                _complete_operation(operation, method, handler.opt)
                for deprecation in deprecations:
                    if deprecation.covers(path):
                        _deprecate(operation, deprecation)
    document["tags"] = _list_tags(document)
    _rewrite_literals(document)
    _describe_terms(document)
    rewrite_for_generators(document)
    add_links(operations, links)
    return exact_json.encode(document)


def _openapi_config(base_url: str) -> OpenAPIConfig:
    return OpenAPIConfig(
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


def _describe_terms(document: dict[str, Any]) -> None:
    """Say what the fields of an invoice setting mean and allow, so that a form can be built."""
    for schema in document["components"]["schemas"].values():
        fields = schema.get("properties", {})
        if TERM_TEXTS.keys() <= fields.keys():
            for field in TERM_TEXTS:
                fields[field] |= restrict_values(field) | {"description": describe_term(field)}


def _add_summary(operation: dict[str, Any], handler: HTTPRouteHandler) -> None:
    """The summary is the first line of the docstring; the tag is derived from the package."""
    operation.setdefault("tags", [_derive_tag(handler.fn.__module__)])
    first_line, _, rest = operation.get("description", "").partition("\n")
    # Summaries are plain text, not Markdown.
    operation["summary"] = re.sub(r"`(.*?)`", r"“\1”", first_line.strip().rstrip("."))
    operation["description"] = rest.strip()


def _derive_tag(module: str) -> str:
    """`nimbill.customers.billing_groups.routes` becomes "Billing groups"."""
    _, package, *rest = module.split(".")
    if package == "application":
        name = rest[-1]
    elif len(rest) == 1 or package in ONE_TAG_PACKAGES:
        name = package
    else:
        name = rest[0]
    return TAGS.get(name, name.replace("_", " ").capitalize())


def _list_tags(document: dict[str, Any]) -> list[dict[str, str]]:
    """In the order of the routes, with the tag of the service itself last."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = dict.fromkeys(operation["tags"][0] for operation in operations)
    return [{"name": name} for name in sorted(names, key=lambda name: name == SERVICE_TAG)]


def _add_schemas(document: dict[str, Any], bodies: set[type[msgspec.Struct]]) -> None:
    for body in sorted(bodies, key=lambda body: body.__name__):
        _, schemas = msgspec.json.schema_components([body], ref_template=f"{SCHEMA_PREFIX}{{name}}")
        for name, schema in schemas.items():
            document["components"]["schemas"].setdefault(name, schema)


def _undocumented_bodies(opt: dict[str, Any]) -> set[type[msgspec.Struct]]:
    """Bodies that the handler reads or returns itself, which the framework does not see."""
    read = (body for body in opt.get("reads", {}).values() if body is not str)
    return {*read, *([opt["refusal"]] if "refusal" in opt else [])}


def _complete_operation(operation: dict[str, Any], method: str, opt: dict[str, Any]) -> None:
    public = isinstance(opt["audiences"], Public)
    operation["description"] = _add_permissions(operation.get("description", ""), opt)
    if "closed_month" in opt:
        operation["description"] += f"\n\nIn a closed month: {opt['closed_month'].value}"
    if not public:
        operation["security"] = [{"bearer": []}]
        if method in MUTATING:
            operation["parameters"] = [*operation.get("parameters", []), IDEMPOTENCY_PARAMETER]
    if "reads" in opt:
        content = {
            content_type: {
                "schema": {"type": "string"} if body is str else _reference(body.__name__)
            }
            for content_type, body in opt["reads"].items()
        }
        operation["requestBody"] = {"content": content, "required": method != "DELETE"}
    if "uploads" in opt:
        json_content = operation["requestBody"]["content"]["application/json"]
        json_schema = json_content["schema"]["oneOf"][0]
        operation["requestBody"]["content"] = {
            "application/json": {"schema": json_schema},
            "multipart/form-data": {"schema": _build_upload_schema()},
        }
        operation["requestBody"]["required"] = True
    if "forms" in opt and "reads" not in opt:
        content = operation["requestBody"]["content"]
        content |= dict.fromkeys(FORM_TYPES, content["application/json"])
    if "may_be_empty" in opt:
        empty = {"schema": {"type": "string", "maxLength": 0}}
        operation["responses"]["200"]["content"]["text/plain"] = empty
    if versions.OPTION in opt:
        _describe_version(operation, method)
    if "counted" in opt:
        operation["responses"]["200"]["headers"] = {TOTAL_HEADER: TOTAL_SCHEMA}
    error_content = {"application/problem+json": {"schema": _reference("Problem")}}
    if "refusal" in opt:
        # generated clients read the first content type, and this is what is usually answered
        refusal = {"application/json": {"schema": _reference(opt["refusal"].__name__)}}
        error_content = refusal | error_content
    excluded = {401, 403, 429} if public and method not in MUTATING else set()
    if method not in MUTATING and "may_conflict" not in opt:
        excluded.add(409)
    for status, description in ERROR_RESPONSES.items():
        if status not in excluded:
            operation["responses"][str(status)] = {
                "description": description,
                "content": error_content,
            }


def _describe_version(operation: dict[str, Any], method: str) -> None:
    """Routes that show an object send its version; routes that change it also take one."""
    if method in MUTATING:
        operation["parameters"].append(IF_MATCH_PARAMETER)
        operation["responses"]["412"] = {
            "description": "The object is no longer the version that If-Match names.",
            "content": {"application/problem+json": {"schema": _reference("Problem")}},
        }
    if method != "DELETE":
        operation["responses"]["200"]["headers"] = {versions.ETAG: ETAG_SCHEMA}


def _deprecate(operation: dict[str, Any], deprecation: Deprecation) -> None:
    operation["deprecated"] = True
    since, until = deprecation.since.date(), deprecation.until.date()
    operation["description"] += f" Deprecated since {since}; available until {until}."


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"{SCHEMA_PREFIX}{name}"}


def _add_permissions(text: str, opt: dict[str, Any]) -> str:
    actions = ", ".join(opt["role_actions"]) or "none"
    return f"{text}\n\nRole actions, any one of: {actions}. Basis: {opt['basis']}.".strip()


def _find_rule(field: FieldDefinition) -> VendorRule | None:
    """Fields of bodies have the rule in `extra`, parameters in the metadata of their type."""
    metadata = [meta.extra for meta in field.metadata if isinstance(meta, msgspec.Meta)]
    return next(filter(None, map(get_vendor_rule, (field.extra, *metadata))), None)


def _list_alternatives(rule: VendorRule) -> list[Schema]:
    return [
        Schema(type=OpenAPIType.STRING, enum=rule.list_names(BILLED_VENDORS)),
        Schema(
            type=OpenAPIType.STRING,
            pattern=NAME_PATTERN,
            description="a vendor that the organisation setting `vendors` enables",
        ),
    ]


def add_links(operations: Mapping[str, dict[str, Any]], links_by_operation: ResponseLinks) -> None:
    """`operations` are those of the document, by the name of the function that handles them.

    A link is named after its target. Operations and targets that do not exist raise KeyError.
    """
    for source, links in links_by_operation.items():
        for response in _iterate_successes(operations[source]):
            response["links"] = {
                link.target: _format_link(link, operations[link.target]) for link in links
            }


def _iterate_successes(operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield response


def _format_link(link: ResponseLink, target: Mapping[str, Any]) -> dict[str, Any]:
    formatted: dict[str, Any] = {"operationId": target["operationId"]}
    if link.parameters:
        formatted["parameters"] = dict(link.parameters)
    if link.body is not None:
        formatted |= {LINK_BODY: dict(link.body), "description": BODY_DESCRIPTION}
    return formatted


def _build_upload_schema() -> dict[str, Any]:
    """The fields of the JSON body, with uploaded files instead of their location."""
    return {
        "type": "object",
        "properties": {
            "vendor": _describe_uploaded_vendor(),
            "month": {"type": "string"},
            "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
        },
        "required": ["vendor", "file"],
    }


def _describe_uploaded_vendor() -> dict[str, Any]:
    """The field `vendor` of an upload, which is no body of its own."""
    return {"anyOf": [schema.to_schema() for schema in _list_alternatives(VendorRule(VENDORS))]}
