"""The outermost layer: request ids, time limits, safe headers, one log line for each request."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from nimbill.access.request_context import REQUEST_CONTEXT, RequestContext
from nimbill.foundation import metrics
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Invalid, ServiceError, Unreadable
from nimbill.foundation.ids import new_id
from nimbill.http.deprecation import Deprecation
from nimbill.http.problem_details import problem

log = structlog.get_logger("request")

basis = chosen("request-limits")

NOTHING_LOADS = "default-src 'none'; frame-ancestors 'none'"
SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
UNLESS_SAID = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", NOTHING_LOADS.encode()),
)
KNOWN_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
FAIR_BYTES_PER_SECOND = 262_144
LAST_LOOK_SECONDS = 0.5
OVER_TLS = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


class RequestMiddleware:
    """Wraps the whole application; what comes in is a visit, what goes out is safe to show."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_seconds: int,
        over_tls: bool,
        deprecations: Sequence[Deprecation] = (),
    ) -> None:
        self._app = app
        self._body_seconds = body_seconds
        self._deprecations = deprecations
        self._headers = (*SAFE_HEADERS, OVER_TLS) if over_tls else SAFE_HEADERS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        visit = RequestContext(new_id("req"))
        scope[REQUEST_CONTEXT] = visit  # type: ignore[literal-required]
        began, answered = time.perf_counter(), _Answered()

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered.status = message["status"]
                message["headers"] = [
                    *self._with_headers(message["headers"], visit),
                    *self._deprecation_headers(scope["path"]),
                ]
            await send(message)

        try:
            refusal = _unsound_address(scope)
            if refusal is not None:
                await problem(refusal, visit.request_id).to_asgi_response(
                    app=None,
                    request=None,  # type: ignore[arg-type]  # neither is looked at
                )(scope, receive, send_safely)
            else:
                await self._app(scope, self._in_time(receive), send_safely)
        finally:
            await visit.close()
            _note(scope, visit, answered.status, time.perf_counter() - began)

    def _with_headers(self, headers: Any, visit: RequestContext) -> list[tuple[bytes, bytes]]:
        given = [(bytes(name).lower(), bytes(value)) for name, value in headers]
        if visit.methods:
            given = [pair for pair in given if pair[0] != b"allow"]
            given.append((b"allow", visit.methods.encode()))
        names = {name for name, _ in given}
        extra = [pair for pair in UNLESS_SAID if pair[0] not in names]
        return [*given, *self._headers, *extra, (b"x-request-id", visit.request_id.encode())]

    def _deprecation_headers(self, path: str) -> Sequence[tuple[bytes, bytes]]:
        """Also for errors, and for paths under the prefix that do not exist."""
        for deprecation in self._deprecations:
            if deprecation.covers(path):
                return deprecation.headers()
        return ()

    def _in_time(self, receive: Receive) -> Receive:
        """The body must arrive whole within so many seconds, however slowly it trickles.

        What is sent at a fair pace may be long: every byte that came gives its share of time.
        """
        until = time.monotonic() + self._body_seconds
        complete = last_look = False

        async def receive_in_time() -> Any:
            nonlocal complete, last_look, until
            if complete:
                return await receive()
            left = until - time.monotonic()
            if left <= 0 and last_look:
                raise _too_slow()
            # it may have been here all the time, while an answer was prepared or others had the
            # processor: what lies there is taken, once
            last_look = left <= 0
            try:
                async with asyncio.timeout(max(left, LAST_LOOK_SECONDS)):
                    message = await receive()
            except TimeoutError:
                raise _too_slow() from None
            if message["type"] == "http.disconnect":
                raise Invalid("client_gone", "the connection was closed before the body ended")
            until += len(_body(message)) / FAIR_BYTES_PER_SECOND
            complete = not message.get("more_body", False)
            return message

        return receive_in_time


def _too_slow() -> Unreadable:
    return Unreadable(408, "body_too_slow", "the body took too long")


def _body(message: Any) -> bytes:
    body: bytes = message.get("body", b"")
    return body


class _Answered:
    status = 499  # nobody waited for the answer


def _unsound_address(scope: HTTPScope) -> ServiceError | None:
    """NUL or broken UTF-8 in path or query reaches no handler and no record."""
    raw = bytes(scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape"))
    try:
        text = unquote_to_bytes(raw).decode() + unquote_to_bytes(scope["query_string"]).decode()
    except UnicodeDecodeError:
        return Invalid("malformed_address", "the address is not UTF-8")
    if "\0" in text:
        return Invalid("malformed_address", "a NUL character stands in the address")
    return None


def _note(scope: HTTPScope, visit: RequestContext, status: int, seconds: float) -> None:
    route = visit.route or "(none)"
    # a method nobody knows is the caller's own text: it is neither counted by name nor logged
    method = scope["method"] if scope["method"] in KNOWN_METHODS else "(other)"
    metrics.count_request(method, route, status, seconds)
    log.info(
        "request",
        request_id=visit.request_id,
        method=method,
        route=route,
        status=status,
        ms=int(seconds * 1000),
        user_id=visit.caller.user_id if visit.caller else None,
    )
