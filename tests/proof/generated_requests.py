"""Valid and invalid requests that schemathesis generates from the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from tests.proof.asgi_calls import Request

BASE = "http://127.0.0.1:8080"
PARTS = ("method", "url", "headers", "params", "json", "data", "files", "cookies")


def generated_requests(
    document: Mapping[str, Any], *, per_operation: int, number: int
) -> Iterator[Request]:
    """Some for every operation, half of them valid; the same for the same number."""
    schema = schemathesis.openapi.from_dict(dict(document))
    for found in schema.get_all_operations():
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            operation: Any = found.ok()  # type: ignore[union-attr]  # an unsound one raises here
            strategy = operation.as_strategy(generation_mode=mode)
            yield from _drawn(strategy, -(-per_operation // 2), number)


def _drawn(strategy: Any, count: int, number: int) -> list[Request]:
    drawn: list[Request] = []

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def draw(case: Any) -> None:
        request = as_request(case)
        if request is not None:
            drawn.append(request)

    try:
        draw()
    except Unsatisfiable:
        return []  # an operation without parameters to break
    return drawn


def as_request(case: Any) -> Request | None:
    parts = case.as_transport_kwargs(base_url=BASE)
    try:
        ready = requests.Request(**{key: parts[key] for key in PARTS if key in parts}).prepare()
    except (requests.RequestException, UnicodeError, ValueError):
        return None  # cannot be sent
    address = urlsplit(ready.url or "")
    body = ready.body or b""
    return Request(
        method=ready.method or "GET",
        path=str(address.path).encode("utf-8", "replace") or b"/",
        query=str(address.query).encode("utf-8", "replace"),
        headers=[
            (_bytes(name).lower(), _bytes(value))
            for name, value in ready.headers.items()
            if name.lower() != "user-agent"
        ],
        body=body.encode() if isinstance(body, str) else bytes(body),
    )


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")
