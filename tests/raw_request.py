"""Requests that no client library would send: raw bytes through the door, message by message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes

from litestar.types import ASGIApp

from nimbill.application.app import with_middleware
from tests.running_service import Service


@dataclass
class RawAnswer:
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
    """Nothing arrives for so long."""

    seconds: float


GONE = {"type": "http.disconnect"}
Piece = bytes | Pause | Mapping[str, Any]


def raw_request(
    service: Service,
    method: str,
    path: bytes,
    *,
    headers: Mapping[str, str] | None = None,
    body: Sequence[Piece] = (),
    door: ASGIApp | None = None,
) -> RawAnswer:
    """The answer to a body that arrives piece by piece; `path` as on the wire, with its query."""
    raw_path, _, query = path.partition(b"?")
    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": _unquoted(raw_path),
        "raw_path": raw_path,
        "query_string": query,
        "root_path": "",
        "headers": [(n.lower().encode(), v.encode()) for n, v in (headers or {}).items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8080),
        "state": {},
    }
    entrance = door or with_middleware(service.app, service.settings)
    return service.run(lambda: _through(entrance, scope, list(body)))


async def _through(entrance: ASGIApp, scope: Any, pieces: list[Piece]) -> RawAnswer:
    answer, waiting = RawAnswer(), iter(pieces)
    left = sum(not isinstance(piece, Pause) for piece in pieces)

    async def receive() -> Any:
        nonlocal left
        for piece in waiting:
            if isinstance(piece, Pause):
                await asyncio.sleep(piece.seconds)
                continue
            left -= 1
            if isinstance(piece, bytes):
                return {"type": "http.request", "body": piece, "more_body": left > 0}
            return piece
        if not pieces:
            return {"type": "http.request", "body": b"", "more_body": False}
        return GONE

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status_code = message["status"]
            answer.headers = {n.decode().lower(): v.decode() for n, v in message["headers"]}
        else:
            answer.body += message.get("body", b"")

    await entrance(scope, receive, send)
    return answer


def _unquoted(path: bytes) -> str:
    """As servers hand it over: decoded, and broken bytes escaped."""
    return unquote_to_bytes(path).decode("utf-8", "surrogateescape")
