"""What an upload announces about its size is used only if it is a number."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest

from nimbill.access import uploads
from nimbill.access.request_context import RequestContext


@pytest.mark.parametrize(
    ("content_length", "announced"),
    [("12", 12), (None, 0), ("", 0), ("-1", 0), ("x", 0), ("1e3", 0), ("²", 0), ("１２", 0)],
)
def test_the_announced_size_of_an_upload(
    monkeypatch: pytest.MonkeyPatch, content_length: str | None, announced: int
) -> None:
    receive = AsyncMock()
    monkeypatch.setattr(uploads, "receive_upload", receive)
    headers = {} if content_length is None else {"content-length": content_length}
    request = cast(Any, SimpleNamespace(headers=headers, stream=lambda: None))

    asyncio.run(RequestContext("req_1").receive_upload(request, Path("uploads"), reserve_mib=7))

    assert receive.await_args is not None
    assert receive.await_args.args[2] == Path("uploads/req_1")
    assert receive.await_args.kwargs == {"announced_bytes": announced, "reserve_mib": 7}
