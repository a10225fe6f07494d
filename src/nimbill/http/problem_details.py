"""Error responses: RFC 9457 problem details that never repeat what was sent."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import structlog
from litestar import Request, Response
from litestar.enums import ParamType
from litestar.exceptions import HTTPException, ValidationException
from litestar.params import ParameterKwarg
from litestar.typing import FieldDefinition
from msgspec import inspect
from sqlalchemy.exc import IntegrityError

from nimbill.access.request_context import get_request_context
from nimbill.database.tenant_scope import database_unavailable, is_database_unavailable
from nimbill.foundation.errors import (
    Conflict,
    Invalid,
    NotAuthenticated,
    ServiceError,
    Violation,
    not_found,
    rule_violations_error,
)
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.http.request_bodies import describe_rule

log = structlog.get_logger()

# See docs/choices.md, problem-details.

PROBLEM_JSON = "application/problem+json"

# Code, title and detail of requests that the framework refuses.
_FRAMEWORK_ERRORS: Mapping[int, tuple[str, str, str]] = {
    400: ("malformed_request", "Invalid request", "The request cannot be read."),
    405: ("method_not_allowed", "Method not allowed", "This path does not support the method."),
    413: ("body_too_large", "Request not readable", "The body is larger than allowed."),
    415: ("media_type", "Request not readable", "This path does not accept the content type."),
}


def problem_response(
    error: ServiceError, request_id: str, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    all_headers = {**error.headers, **(headers or {})}
    if isinstance(error, NotAuthenticated):
        all_headers["WWW-Authenticate"] = "Bearer"
    if error.retry_after:
        all_headers["Retry-After"] = str(error.retry_after)
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "instance": f"urn:request:{request_id}",
        **error.fields,
    }
    if error.violations:
        body["violations"] = [violation._asdict() for violation in error.violations]
    return Response(
        # ASCII only, so that no character of a text can make the response unreadable
        json.dumps(body).encode("ascii"),
        status_code=error.status,
        media_type=PROBLEM_JSON,
        headers=all_headers,
    )


def handle_service_error(request: Request[Any, Any, Any], error: ServiceError) -> Response[bytes]:
    return problem_response(error, get_request_context(request.scope).request_id)


def handle_framework_error(
    request: Request[Any, Any, Any], error: HTTPException
) -> Response[bytes]:
    """Describe what the framework refused before a handler: path, method, size, parameters."""
    request_id = get_request_context(request.scope).request_id
    if isinstance(error, ValidationException):
        return problem_response(_parameter_violations(request, error), request_id)
    if error.status_code == 404:
        return problem_response(not_found(), request_id)
    if error.status_code not in _FRAMEWORK_ERRORS:
        return handle_unexpected_error(request, error)
    code, title, detail = _FRAMEWORK_ERRORS[error.status_code]
    refusal = ServiceError(code, detail)
    refusal.status, refusal.title = error.status_code, title  # type: ignore[misc]
    allow = {
        name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"
    }
    return problem_response(refusal, request_id, allow)


def _parameter_violations(request: Request[Any, Any, Any], error: ValidationException) -> Invalid:
    """List parameters by the name in the request, with the rule from the handler's types."""
    declared = request.route_handler.parsed_fn_signature.parameters
    parameter_names = [
        str(message["key"]).split(".")[0]
        for message in (error.extra if isinstance(error.extra, list) else [])
        if isinstance(message, dict) and "key" in message
    ]
    vendors = get_request_context(request.scope).vendors or BILLED_VENDORS
    violations = [
        _parameter_violation(declared[name], vendors)
        for name in parameter_names
        if name in declared
    ]
    if not violations:
        violations = list(_missing_query_parameters(request))
    return rule_violations_error(violations)


def _missing_query_parameters(request: Request[Any, Any, Any]) -> Iterator[Violation]:
    """Find missing parameters, which the framework reports only in a text with the URL."""
    provided = request.route_handler.resolve_dependencies()
    for parameter in request.route_handler.parsed_fn_signature.parameters.values():
        if parameter.name in provided:
            continue
        definition, name = parameter.kwarg_definition, parameter.name
        if isinstance(definition, ParameterKwarg) and definition.param_type is ParamType.QUERY:
            name = getattr(definition, "name", None) or name
            if not parameter.has_default and name not in request.query_params:
                yield Violation(name, "required")


def _parameter_violation(parameter: FieldDefinition, vendors: Sequence[str]) -> Violation:
    if parameter.name == "data":
        return Violation("body", "a JSON body is required")
    name = getattr(parameter.kwarg_definition, "name", None) or parameter.name
    description = getattr(parameter.kwarg_definition, "description", None)
    # The raw annotation includes the metadata of a vendor.
    rule = description or describe_rule(inspect.type_info(parameter.raw), vendors)
    return Violation(name, rule)


def handle_unexpected_error(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer any other exception: 409 for a constraint, 503 without a database, otherwise 500."""
    request_id = get_request_context(request.scope).request_id
    if isinstance(error, IntegrityError):
        return problem_response(build_conflict(error), request_id)
    if is_database_unavailable(error):
        log.warning("database_unavailable", request_id=request_id, error_type=type(error).__name__)
        return problem_response(database_unavailable(), request_id)
    log.error("unexpected_error", request_id=request_id, exc_info=error)
    internal = ServiceError("internal_error", "An internal error occurred. See the service log.")
    internal.status, internal.title = 500, "Internal error"  # type: ignore[misc]
    return problem_response(internal, request_id)


def build_conflict(error: IntegrityError) -> Conflict:
    """Build the error of a constraint that a concurrent request caused; its name is the code."""
    name = str(getattr(error.orig.__cause__, "constraint_name", "") or "") if error.orig else ""
    code = name if name.endswith("_taken") else "conflict"
    return Conflict(code, "Another request changed the records. Read them again and retry.")
