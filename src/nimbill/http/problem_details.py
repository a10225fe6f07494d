"""Answers that say no: RFC 9457 problem details, never repeating what was sent."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from litestar import Request, Response
from litestar.enums import ParamType
from litestar.exceptions import HTTPException, ValidationException
from litestar.params import ParameterKwarg
from litestar.typing import FieldDefinition
from msgspec import inspect
from sqlalchemy.exc import IntegrityError

from nimbill.access.request_context import request_context_of
from nimbill.database.tenant_scope import is_database_unavailable, unavailable
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, Invalid, NotAuthenticated, ServiceError, Violation
from nimbill.http.request_bodies import rule_of

log = structlog.get_logger()

basis = chosen("problem-answers")

PROBLEM_JSON = "application/problem+json"

# what the framework refuses by itself, in our words
_OF_STATUS: Mapping[int, tuple[str, str, str]] = {
    400: ("malformed_request", "Invalid request", "the request cannot be read"),
    404: ("not_found", "Not found", "there is no such record"),
    405: ("method_not_allowed", "Method not allowed", "this path does not know the method"),
    413: ("body_too_large", "Request not readable", "the body is larger than allowed"),
    415: ("media_type", "Request not readable", "the content type is not one this path reads"),
}


def problem(
    error: ServiceError, request_id: str, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    """The answer for a refusal of ours."""
    extra = dict(headers or {})
    if isinstance(error, NotAuthenticated):
        extra["WWW-Authenticate"] = "Bearer"
    if error.retry_after:
        extra["Retry-After"] = str(error.retry_after)
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "instance": f"urn:request:{request_id}",
    }
    if error.violations:
        body["violations"] = [violation._asdict() for violation in error.violations]
    return Response(
        # ASCII only, so that no text whatever can break the answer
        json.dumps(body).encode("ascii"),
        status_code=error.status,
        media_type=PROBLEM_JSON,
        headers=extra,
    )


def answer_service_error(request: Request[Any, Any, Any], error: ServiceError) -> Response[bytes]:
    return problem(error, request_context_of(request.scope).request_id)


def answer_framework_error(
    request: Request[Any, Any, Any], error: HTTPException
) -> Response[bytes]:
    """Routing, methods, sizes and parameters, refused before a handler of ours was reached."""
    request_id = request_context_of(request.scope).request_id
    if isinstance(error, ValidationException):
        return problem(_of_parameters(request, error), request_id)
    if error.status_code not in _OF_STATUS:
        return answer_unexpected(request, error)
    code, title, detail = _OF_STATUS[error.status_code]
    refusal = ServiceError(code, detail)
    refusal.status, refusal.title = error.status_code, title  # type: ignore[misc]
    allow = {n: value for n, value in (error.headers or {}).items() if n.lower() == "allow"}
    return problem(refusal, request_id, allow)


def _of_parameters(request: Request[Any, Any, Any], error: ValidationException) -> Invalid:
    """Which parameter, by the name it is sent under, and its rule from the handler's own types."""
    declared = request.route_handler.parsed_fn_signature.parameters
    named = [
        str(message["key"]).split(".")[0]
        for message in (error.extra if isinstance(error.extra, list) else [])
        if isinstance(message, dict) and "key" in message
    ]
    violations = [_of_parameter(declared[name]) for name in named if name in declared]
    if not violations:
        violations = list(_missing_from_query(request))
    return Invalid("rule_broken", "the request breaks a rule", violations)


def _missing_from_query(request: Request[Any, Any, Any]) -> Iterator[Violation]:
    """What the framework names in a sentence alone, which would repeat the address."""
    provided = request.route_handler.resolve_dependencies()
    for parameter in request.route_handler.parsed_fn_signature.parameters.values():
        if parameter.name in provided:
            continue
        kind, sent_as = parameter.kwarg_definition, parameter.name
        if isinstance(kind, ParameterKwarg) and kind.param_type is ParamType.QUERY:
            sent_as = getattr(kind, "name", None) or sent_as
            if not parameter.has_default and sent_as not in request.query_params:
                yield Violation(sent_as, "required")


def _of_parameter(parameter: FieldDefinition) -> Violation:
    if parameter.name == "data":
        return Violation("body", "a JSON body is required")
    sent_as = getattr(parameter.kwarg_definition, "name", None) or parameter.name
    described = getattr(parameter.kwarg_definition, "description", None)
    return Violation(sent_as, described or rule_of(inspect.type_info(parameter.annotation)))


def answer_unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """The last resort. A database that is away is no fault of the request, nor a surprise."""
    request_id = request_context_of(request.scope).request_id
    if isinstance(error, IntegrityError):
        return problem(conflict_of(error), request_id)
    if is_database_unavailable(error):
        log.warning("database_away", request_id=request_id, kind=type(error).__name__)
        return problem(unavailable(), request_id)
    log.error("unexpected", request_id=request_id, exc_info=error)
    surprise = ServiceError("internal_error", "something went wrong here; the log says what")
    surprise.status, surprise.title = 500, "Internal error"  # type: ignore[misc]
    return problem(surprise, request_id)


def conflict_of(error: IntegrityError) -> Conflict:
    """Two requests raced and a constraint had the last word: its name is the code."""
    name = str(getattr(error.orig.__cause__, "constraint_name", "") or "") if error.orig else ""
    code = name if name.endswith("_taken") else "conflict"
    return Conflict(code, "the records changed meanwhile and now forbid this")
