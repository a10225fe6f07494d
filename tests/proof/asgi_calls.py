"""Requests sent directly into the application: any bytes that a server could pass on."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from litestar.types import ASGIApp

from nimbill.application.app import add_middleware
from tests.running_service import Service

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: bytes
    query: bytes = b""
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    pieces: int = 1  # number of chunks in which the body arrives


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    path_template: str | None  # of the matched route

    def json(self) -> Any:
        return json.loads(self.body)


def app_of(service: Service) -> ASGIApp:
    """The application with its middleware, as a worker serves it."""
    return add_middleware(service.app, service.settings)


def as_headers(headers: Mapping[str, str]) -> Headers:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def json_request(
    method: str, path: str, body: object, headers: Mapping[str, str] | None = None
) -> Request:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    all_headers = [(b"content-type", b"application/json"), *as_headers(headers or {})]
    return Request(method, path.encode(), headers=all_headers, body=content)


async def call(app: ASGIApp, request: Request) -> Answer:
    """Send one request; exceptions of the application are raised here."""
    scope = _scope(request)
    chunks = _split_body(request)
    messages: list[Any] = []
    finished = asyncio.Event()

    async def receive() -> Any:
        if chunks:
            chunk = chunks.pop(0)
            return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}
        await finished.wait()  # the client sends nothing more, so wait like a server
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        messages.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            finished.set()

    began = time.perf_counter()
    await app(scope, receive, send)
    seconds = time.perf_counter() - began
    headers = {
        bytes(name).decode("latin-1"): bytes(value).decode("latin-1")
        for name, value in messages[0]["headers"]
    }
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return Answer(messages[0]["status"], headers, body, seconds, scope.get("path_template"))


def _scope(request: Request) -> Any:
    headers = list(request.headers)
    if request.body and not any(name == b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(request.body)).encode()))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        # servers pass on invalid UTF-8 like this
        "path": unquote_to_bytes(request.path).decode("utf-8", "surrogateescape"),
        "raw_path": request.path,
        "query_string": request.query,
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8080"), *headers],
        "client": ("127.0.0.1", 40_000),
        "server": ("127.0.0.1", 8080),
        "state": {},
        "extensions": {},
    }


def _split_body(request: Request) -> list[bytes]:
    length = max(1, -(-len(request.body) // request.pieces))
    return [request.body[at : at + length] for at in range(0, len(request.body), length)] or [b""]


async def each(count: int, do: Callable[[int], Awaitable[None]], *, at_once: int) -> None:
    """Call `do` with the numbers 0 to count - 1, `at_once` in parallel; stop at the first error."""
    numbers: Iterable[int] = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await do(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())


def send_all(service: Service, requests: Sequence[Request]) -> list[Answer]:
    """Responses of the application, which serves eight requests at a time."""
    app = app_of(service)
    answers: dict[int, Answer] = {}

    async def send(number: int) -> None:
        answers[number] = await call(app, requests[number])

    service.run(lambda: each(len(requests), send, at_once=8))
    return [answers[number] for number in range(len(requests))]
