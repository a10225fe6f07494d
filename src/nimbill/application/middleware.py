"""The outermost layer: request ids, time limits, security headers, one log line per request."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, TypeGuard
from urllib.parse import unquote_to_bytes

import structlog
from litestar.enums import ScopeType
from litestar.types import (
    ASGIApp,
    HTTPResponseBodyEvent,
    HTTPScope,
    Message,
    Receive,
    Scope,
    Send,
)

from nimbill.access.request_context import REQUEST_CONTEXT, RequestContext
from nimbill.application.large_bodies import LARGE_BYTES, LargeBody, send_large_body
from nimbill.foundation import metrics
from nimbill.foundation.errors import Invalid, ServiceError, Unreadable
from nimbill.foundation.ids import new_id
from nimbill.http.deprecation import Deprecation
from nimbill.http.problem_details import problem_response

log = structlog.get_logger("request")

# See docs/choices.md, request-limits.

CONTENT_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'"
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
# Added unless the response has its own.
DEFAULT_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
)
KNOWN_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
BYTES_PER_EXTRA_SECOND = 262_144  # each part of a body extends its time limit
GRACE_SECONDS = 0.5
CLIENT_CLOSED = 499  # status of a request whose client did not wait for the response
HSTS_HEADER = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


class RequestMiddleware:
    """Adds a request context to every request, and headers to every response."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_seconds: int,
        is_https: bool,
        deprecations: Sequence[Deprecation] = (),
    ) -> None:
        self._app = app
        self._body_seconds = body_seconds
        self._deprecations = deprecations
        self._headers = (*SECURITY_HEADERS, HSTS_HEADER) if is_https else SECURITY_HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        context = RequestContext(new_id("req"))
        scope[REQUEST_CONTEXT] = context  # type: ignore[literal-required]
        started, status = time.perf_counter(), CLIENT_CLOSED
        large_body: LargeBody | None = None

        async def send_with_headers(message: Message) -> None:
            nonlocal status, large_body
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *self._with_headers(message["headers"], context),
                    *self._deprecation_headers(scope["path"]),
                ]
            elif _is_large(message):
                # The application still refers to the body, so it is sent when that has ended.
                large_body = LargeBody(message["body"])
                return
            await send(message)

        try:
            malformed = _find_malformed_address(scope)
            if malformed is not None:
                await problem_response(malformed, context.request_id).to_asgi_response(
                    app=None,
                    request=None,  # type: ignore[arg-type]  # both are unused
                )(scope, receive, send_with_headers)
            else:
                await self._app(scope, self._limit_body_time(receive), send_with_headers)
            if large_body is not None:
                await send_large_body(send, large_body)
        finally:
            await context.close()
            _record_request(scope, context, status, time.perf_counter() - started)

    def _with_headers(self, headers: Any, context: RequestContext) -> list[tuple[bytes, bytes]]:
        complete = [(bytes(name).lower(), bytes(value)) for name, value in headers]
        if context.methods:
            complete = [pair for pair in complete if pair[0] != b"allow"]
            complete.append((b"allow", context.methods.encode()))
        names = {name for name, _ in complete}
        defaults = [pair for pair in DEFAULT_HEADERS if pair[0] not in names]
        return [
            *complete,
            *self._headers,
            *defaults,
            (b"x-request-id", context.request_id.encode()),
        ]

    def _deprecation_headers(self, path: str) -> Sequence[tuple[bytes, bytes]]:
        """Also for errors, and for paths under the prefix that do not exist."""
        for deprecation in self._deprecations:
            if deprecation.covers(path):
                return deprecation.headers()
        return ()

    def _limit_body_time(self, receive: Receive) -> Receive:
        """Refuse a body that does not arrive in time.

        Every received byte extends the limit, so that a long body at a normal rate is accepted.
        """
        deadline = time.monotonic() + self._body_seconds
        complete = in_grace = False

        async def receive_in_time() -> Any:
            nonlocal complete, in_grace, deadline
            if complete:
                return await receive()
            remaining = deadline - time.monotonic()
            if remaining <= 0 and in_grace:
                raise _body_too_slow()
            # The body may have arrived in time while the handler was busy, so one late read is
            # allowed.
            in_grace = remaining <= 0
            try:
                async with asyncio.timeout(max(remaining, GRACE_SECONDS)):
                    message = await receive()
            except TimeoutError:
                raise _body_too_slow() from None
            if message["type"] == "http.disconnect":
                raise Invalid(
                    "client_gone", "The connection was closed before the body was complete."
                )
            body: Any = message.get("body", b"")
            deadline += len(body) / BYTES_PER_EXTRA_SECOND
            complete = not message.get("more_body", False)
            return message

        return receive_in_time


def _is_large(message: Message) -> TypeGuard[HTTPResponseBodyEvent]:
    return (
        message["type"] == "http.response.body"
        and not message.get("more_body", False)
        and len(message.get("body", b"")) > LARGE_BYTES
    )


def _body_too_slow() -> Unreadable:
    return Unreadable(408, "body_too_slow", "The request body did not arrive in time.")


def _find_malformed_address(scope: HTTPScope) -> ServiceError | None:
    """NUL and invalid UTF-8 in the path or query must not reach handlers and the database."""
    raw = bytes(scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape"))
    try:
        text = unquote_to_bytes(raw).decode() + unquote_to_bytes(scope["query_string"]).decode()
    except UnicodeDecodeError:
        return Invalid("malformed_address", "The address is not valid UTF-8.")
    if "\0" in text:
        return Invalid("malformed_address", "The address contains a NUL character.")
    return None


def _record_request(scope: HTTPScope, context: RequestContext, status: int, seconds: float) -> None:
    route = context.route or "(none)"
    # An unknown method is arbitrary text of the client, so it is neither counted nor logged.
    method = scope["method"] if scope["method"] in KNOWN_METHODS else "(other)"
    metrics.count_request(method, route, status, seconds)
    log.info(
        "request",
        request_id=context.request_id,
        method=method,
        route=route,
        status=status,
        ms=int(seconds * 1000),
        user_id=context.caller.actor[0] if context.caller else None,
    )
