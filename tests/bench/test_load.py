"""The load counts answers, and gives up at the first that is not 200."""

import asyncio
from collections.abc import Awaitable, Callable

from bench.load import NUMBER, Measured, Plan, run

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def measured(serve: Serve, *, body: str = "", connections: int = 2) -> Measured:
    async def both() -> Measured:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            return await run(
                Plan(
                    port=port,
                    method="POST",
                    path="/anything",
                    headers=[{"X-Connection": str(number)} for number in range(connections)],
                    body=body,
                    seconds=0.2,
                    warm_seconds=0,
                )
            )

    return asyncio.run(both())


def answering(status: int, asked: list[bytes]) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer = f"HTTP/1.1 {status} Said\r\nContent-Length: 2\r\n\r\nno".encode()
        while head := await _head(reader):
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            asked.append(head + await reader.readexactly(length))
            writer.write(answer)
        writer.close()

    return serve


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def test_answers_are_counted_on_every_connection() -> None:
    asked: list[bytes] = []

    found = measured(answering(200, asked))

    assert found.refusal is None
    assert found.answered == len(asked) > 0
    assert found.rate > 0
    assert {b"X-Connection: 0", b"X-Connection: 1"} <= {
        line for request in asked for line in request.split(b"\r\n")
    }


def test_no_body_is_sent_twice() -> None:
    asked: list[bytes] = []

    measured(answering(200, asked), body=f'{{"id": "{NUMBER}"}}')

    bodies = [request.partition(b"\r\n\r\n")[2] for request in asked]
    assert len(set(bodies)) == len(bodies) > 1


def test_a_refusal_is_shown_and_ends_the_run() -> None:
    asked: list[bytes] = []

    found = measured(answering(409, asked))

    assert found.refusal == "409 no"
    assert len(asked) <= 4


def test_a_connection_closed_unanswered_is_no_answer() -> None:
    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    assert measured(hang_up).refusal == "the connection was closed unanswered"
