"""Long work of a request ends when its client closes the connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nimbill.foundation.errors import Invalid
from nimbill.http.disconnection import run_until_disconnected


class FakeRequest:
    """A request whose client closes the connection when `gone` is set."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.received = 0

    async def receive(self) -> dict[str, Any]:
        self.received += 1
        if self.received == 1:
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}


def test_the_result_is_returned_while_the_client_waits() -> None:
    async def run() -> str:
        request: Any = FakeRequest()
        return await run_until_disconnected(request, asyncio.sleep(0.01, "result"))

    assert asyncio.run(run()) == "result"


def test_work_is_cancelled_when_the_client_closes_the_connection() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    async def run() -> None:
        request: Any = FakeRequest()
        asyncio.get_running_loop().call_later(0.01, request.gone.set)
        await run_until_disconnected(request, work())

    with pytest.raises(Invalid) as gone:
        asyncio.run(run())

    assert gone.value.code == "client_gone"
    assert ended == ["work"]


def test_an_error_of_the_work_is_raised() -> None:
    async def work() -> None:
        raise ValueError("broken")

    async def run() -> None:
        request: Any = FakeRequest()
        await run_until_disconnected(request, work())

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(run())
