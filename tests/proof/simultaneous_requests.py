"""Requests to real servers, sent at the same moment over connections that are kept open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import httpx

CONNECTIONS = 200
TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    url: str
    form: Mapping[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class SimultaneousRequests:
    def __init__(self) -> None:
        self._loop = asyncio.Runner()
        limits = httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
        self._http = httpx.AsyncClient(limits=limits, timeout=TIMEOUT_SECONDS, trust_env=False)

    def __enter__(self) -> SimultaneousRequests:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.run(self._http.aclose())
        self._loop.close()

    def send(self, requests: Sequence[HttpRequest]) -> list[HttpAnswer]:
        """Send all of them before the first is answered."""
        return self._loop.run(self._send_all(requests))

    async def _send_all(self, requests: Sequence[HttpRequest]) -> list[HttpAnswer]:
        return await asyncio.gather(*[self._send(request) for request in requests])

    async def _send(self, request: HttpRequest) -> HttpAnswer:
        answer = await self._http.request(
            request.method, request.url, data=request.form, headers=dict(request.headers)
        )
        return HttpAnswer(answer.status_code, answer.content)
