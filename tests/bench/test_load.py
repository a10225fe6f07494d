"""The load generator counts responses and stops at the first that is not 200."""

import asyncio
from collections.abc import Awaitable, Callable

from bench.load import NUMBER_PLACEHOLDER, LoadPlan, LoadResult, run_load

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def measure(serve: Serve, *, body: str = "", connections: int = 2) -> LoadResult:
    async def run_both() -> LoadResult:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            return await run_load(
                LoadPlan(
                    port=port,
                    method="POST",
                    path="/anything",
                    headers=[{"X-Connection": str(number)} for number in range(connections)],
                    body=body,
                    seconds=0.2,
                    warmup_seconds=0,
                )
            )

    return asyncio.run(run_both())


def respond_with(status: int, requests: list[bytes]) -> Serve:
    """A server that records every request and returns this status."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        response = f"HTTP/1.1 {status} Status\r\nContent-Length: 2\r\n\r\nno".encode()
        while head := await read_head(reader):
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            requests.append(head + await reader.readexactly(length))
            writer.write(response)
        writer.close()

    return serve


async def read_head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


def test_responses_of_every_connection_are_counted() -> None:
    requests: list[bytes] = []

    result = measure(respond_with(200, requests))

    assert result.failure is None
    assert result.responses == len(requests) > 0
    assert result.rate > 0
    assert {b"X-Connection: 0", b"X-Connection: 1"} <= {
        line for request in requests for line in request.split(b"\r\n")
    }


def test_no_body_is_sent_twice() -> None:
    requests: list[bytes] = []

    measure(respond_with(200, requests), body=f'{{"id": "{NUMBER_PLACEHOLDER}"}}')

    bodies = [request.partition(b"\r\n\r\n")[2] for request in requests]
    assert len(set(bodies)) == len(bodies) > 1


def test_an_error_status_is_reported_and_ends_the_run() -> None:
    requests: list[bytes] = []

    result = measure(respond_with(409, requests))

    assert result.failure == "409 no"
    assert len(requests) <= 4


def test_a_connection_closed_without_a_response_is_a_failure() -> None:
    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    assert measure(close).failure == "connection closed without a response"
