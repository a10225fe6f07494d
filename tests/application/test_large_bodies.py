"""A large body is sent in pieces, and leaves the memory if the client does not read it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from nimbill.application import large_bodies
from nimbill.application.large_bodies import (
    IN_MEMORY_BYTES_MAX,
    LARGE_BYTES,
    PIECE_BYTES,
    LargeBody,
)
from nimbill.application.middleware import RequestMiddleware

SCOPE = {"type": "http", "path": "/", "raw_path": b"/", "query_string": b"", "method": "GET"}
CONTENT = bytes(range(256)) * 2048  # twice as large as what is large


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(large_bodies, "PATIENCE_SECONDS", 0.0)
    yield
    assert LargeBody.in_memory == 0


async def receive() -> Any:
    return {"type": "http.request", "body": b"", "more_body": False}


def respond(bodies: list[bytes], send: Callable[[Any], Awaitable[None]]) -> None:
    """Send a response with the only content of the list, which the application gives up."""

    async def app(_scope: Any, _receive: Any, send_message: Any) -> None:
        await send_message({"type": "http.response.start", "status": 200, "headers": []})
        await send_message({"type": "http.response.body", "body": bodies.pop()})

    middleware = RequestMiddleware(app, body_seconds=1, is_https=False)
    asyncio.run(middleware(SCOPE, receive, send))  # type: ignore[arg-type]


class Client:
    """Collects the messages; before each piece it does something."""

    def __init__(self, before: Callable[[], Awaitable[None]]) -> None:
        self.pieces: list[Any] = []
        self._before = before

    async def receive(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            await self._before()
            self.pieces.append(message)

    @property
    def content(self) -> bytes:
        return b"".join(piece["body"] for piece in self.pieces)


async def read_at_once() -> None:
    return


async def read_slowly() -> None:
    await asyncio.sleep(0.01)


@pytest.mark.parametrize("read", [read_at_once, read_slowly])
def test_a_large_body_arrives_completely(read: Callable[[], Awaitable[None]]) -> None:
    client = Client(read)

    respond([CONTENT], client.receive)

    assert client.content == CONTENT
    assert {len(piece["body"]) for piece in client.pieces} == {PIECE_BYTES}
    assert [piece["more_body"] for piece in client.pieces] == [True] * 7 + [False]


def test_a_small_body_is_one_message() -> None:
    client = Client(read_at_once)

    respond([CONTENT[:LARGE_BYTES]], client.receive)

    assert [piece["body"] for piece in client.pieces] == [CONTENT[:LARGE_BYTES]]


def test_a_body_that_is_not_read_leaves_the_memory() -> None:
    content = bytes(bytearray(CONTENT))

    def count_references() -> int:
        return sys.getrefcount(content)

    of_this_test, counted = count_references(), []

    async def count() -> None:
        await asyncio.sleep(0.05)
        counted.append(count_references())

    client = Client(count)
    respond([content], client.receive)

    assert client.content == CONTENT
    assert counted[1:] == [of_this_test] * 7


def test_a_body_stays_in_memory_if_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    class FullFile:
        closed = False

        def write(self, _content: bytes) -> None:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            self.closed = True

    file, client = FullFile(), Client(read_slowly)
    monkeypatch.setattr(large_bodies, "_open_file", lambda: file)

    respond([CONTENT], client.receive)

    assert client.content == CONTENT
    assert file.closed


def test_a_body_stays_in_memory_without_a_folder_for_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> None:
        raise OSError(2, "No such file or directory")

    client = Client(read_slowly)
    monkeypatch.setattr(large_bodies, "_open_file", refuse)

    respond([CONTENT], client.receive)

    assert client.content == CONTENT


@pytest.mark.parametrize("others", [0, IN_MEMORY_BYTES_MAX])
def test_beside_many_bodies_there_is_no_patience(
    monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    """A client that is slow for a moment keeps its body in memory only if there are few."""
    monkeypatch.setattr(large_bodies, "PATIENCE_SECONDS", 60.0)
    moved: list[LargeBody] = []
    monkeypatch.setattr(LargeBody, "move_to_file", lambda body: moved.append(body))
    LargeBody.in_memory += others

    respond([CONTENT], Client(read_slowly).receive)

    LargeBody.in_memory -= others
    assert bool(moved) is (others > 0)


def test_a_client_that_leaves_ends_the_response() -> None:
    async def leave() -> None:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        respond([CONTENT], Client(leave).receive)
