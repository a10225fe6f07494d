"""Requests that no client library sends: raw ASGI messages through the middleware."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from litestar.types import ASGIApp

from nimbill.application.app import add_middleware
from tests.running_service import Service


@dataclass
class RawResponse:
    status_code: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Pause:
    """A pause between two parts of a body."""

    seconds: float


DISCONNECT = {"type": "http.disconnect"}
BodyPart = bytes | Pause | Mapping[str, Any]


def raw_request(
    service: Service,
    method: str,
    path: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    body: Sequence[BodyPart] = (),
    app: ASGIApp | None = None,
) -> RawResponse:
    """Send a body part by part. `path` is percent-encoded and may include a query."""
    raw_path, _, query = path.partition(b"?")
    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": _decode_path(raw_path),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(n.lower().encode(), v.encode()) for n, v in (headers or {}).items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "state": {},
    }
    target = app or add_middleware(service.app, service.settings)
    return service.run(lambda: _send(target, scope, list(body)))


async def _send(app: ASGIApp, scope: Any, parts: list[BodyPart]) -> RawResponse:
    response, remaining = RawResponse(), iter(parts)
    left = sum(not isinstance(part, Pause) for part in parts)

    async def receive() -> Any:
        nonlocal left
        for part in remaining:
            if isinstance(part, Pause):
                await asyncio.sleep(part.seconds)
                continue
            left -= 1
            if isinstance(part, bytes):
                return {"type": "http.request", "body": part, "more_body": left > 0}
            return part
        if not parts:
            return {"type": "http.request", "body": b"", "more_body": False}
        return DISCONNECT

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            response.status_code = message["status"]
            response.headers = {n.decode().lower(): v.decode() for n, v in message["headers"]}
        else:
            response.body += message.get("body", b"")

    await app(scope, receive, send)
    return response


def _decode_path(path: bytes) -> str:
    """Decode the path as ASGI servers do, with invalid bytes as surrogates."""
    return unquote_to_bytes(path).decode("utf-8", "surrogateescape")
