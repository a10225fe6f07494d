"""How long a request body may take, and what is logged if no response is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from nimbill.application import middleware
from nimbill.application.middleware import RequestMiddleware
from nimbill.foundation.errors import ServiceError

KIB = 1024


@dataclass
class Clock:
    now: float = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that the middleware sees; that of the event loop goes on."""
    clock = Clock()
    times = SimpleNamespace(monotonic=lambda: clock.now, perf_counter=lambda: clock.now)
    monkeypatch.setattr(middleware, "time", times)
    return clock


async def no_app(*_: Any) -> None:
    """Sends no response."""


def receive_parts(clock: Clock, parts: Sequence[tuple[float, int]]) -> str:
    """Read parts, each at a time and with a size; return "complete" or the code of the refusal."""
    remaining = list(parts)

    async def receive() -> Any:
        _, size = remaining.pop(0)
        return {"type": "http.request", "body": b"x" * size, "more_body": bool(remaining)}

    async def read() -> str:
        app = RequestMiddleware(no_app, body_seconds=1, is_https=False)
        limited = app._limit_body_time(receive)
        try:
            for clock.now, _ in parts:
                await limited()
        except ServiceError as error:
            return error.code
        return "complete"

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        pytest.param([(0.5, 1), (0.9, 1)], "complete", id="in time"),
        pytest.param([(1.1, 1)], "complete", id="one late part"),
        pytest.param([(1.0, 1), (1.1, 1)], "body_too_slow", id="two late parts"),
        pytest.param(
            [(0, 256 * KIB), (1.9, 1), (2.1, 1), (2.2, 1)], "body_too_slow", id="256 KiB: a second"
        ),
        pytest.param(
            [(0, 256 * KIB), (1.999_998, 0), (2.1, 0)], "complete", id="exactly one second"
        ),
        pytest.param([(1.1, 128 * KIB), (1.2, 1)], "complete", id="a late part extends the time"),
    ],
)
def test_a_body_has_a_second_more_for_each_256_kib(
    clock: Clock, parts: list[tuple[float, int]], outcome: str
) -> None:
    assert receive_parts(clock, parts) == outcome


def test_a_request_without_a_response_is_logged_with_499_and_its_time(clock: Clock) -> None:
    async def wait(*_: Any) -> None:
        clock.now += 2

    clock.now = 100
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b""}
    app = RequestMiddleware(wait, body_seconds=1, is_https=False)

    with capture_logs() as lines:
        asyncio.run(app(scope, no_app, no_app))  # type: ignore[arg-type]

    assert [line["ms"] for line in lines if line.get("status") == 499] == [2000]


def test_other_headers_are_kept_beside_the_methods_of_a_path() -> None:
    app = RequestMiddleware(no_app, body_seconds=1, is_https=False)
    context = SimpleNamespace(methods="GET, POST", request_id="req_1")
    sent = [(b"Content-Type", b"text/plain"), (b"Allow", b"OPTIONS")]

    headers = app._with_headers(sent, context)  # type: ignore[arg-type]

    assert headers[:2] == [(b"content-type", b"text/plain"), (b"allow", b"GET, POST")]
    assert [name for name, _ in headers].count(b"allow") == 1
