"""Many connections that send a byte now and then, and some that never read.

Usage: python -m tests.proof.slow_connections <port> <token> <size>. Prints a line when all of them
are open, replaces closed ones until standard input ends, and prints what became of them as JSON.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.proof.other_computers import start_other_computer
from tests.proof.real_server import RealServer

HOST = b"Host: 127.0.0.1\r\n"
SECONDS_BETWEEN_BYTES = 1.0
GIVE_UP_SECONDS = 20.0
NEVER_READING_PART = 20  # one in this many
LARGE = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
STILL_OPEN = "still open"
OPEN = "open\n"


@dataclass
class SlowConnections:
    ends: Counter[str] = field(default_factory=Counter)  # how the server closed them
    slowest: float = 0.0

    def format(self) -> str:
        how = ", ".join(f"{count} × {what}" for what, count in self.ends.most_common())
        return f"{how}, the last after {self.slowest:.1f} s"

    def find_late_ends(self, seconds_max: float) -> list[str]:
        if self.slowest <= seconds_max:
            return []
        return [f"a trickling connection stayed open for {self.slowest:.1f} s"]

    def find_kept_open(self) -> list[str]:
        if not self.ends[STILL_OPEN]:
            return []
        return [f"{self.ends[STILL_OPEN]} trickling connections were kept open"]


class SlowConnectionProcess:
    """Keeps this many connections open from its creation until it is ended."""

    def __init__(self, server: RealServer, token: str, size: int) -> None:
        arguments = (str(server.port), token, str(size))
        self._server = server
        self._process = start_other_computer("tests.proof.slow_connections", *arguments)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == OPEN

    async def watch_memory(self, *, until: asyncio.Future[Any]) -> int:
        """Peak memory of the server."""
        memory = 0
        while not until.done():
            memory = max(memory, self._server.resident_bytes())
            await asyncio.wait([until], timeout=0.5)
        return memory

    def end(self) -> SlowConnections:
        output, _ = self._process.communicate(timeout=60)
        found = json.loads(output)
        return SlowConnections(Counter(found["ends"]), found["slowest"])


async def _keep_all_open(port: int, token: str, size: int) -> SlowConnections:
    connections = SlowConnections()
    head = b"POST /m/core/billinggroup HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    head += b"Authorization: Bearer " + token.encode() + b"\r\n"
    in_body = head + b"Content-Length: 1000\r\n\r\n"
    loop = asyncio.get_running_loop()
    until: asyncio.Future[None] = loop.create_future()

    def stop() -> None:
        loop.remove_reader(sys.stdin)
        until.set_result(None)

    loop.add_reader(sys.stdin, stop)

    async def keep_open(number: int) -> None:
        # not all at the same moment
        await asyncio.sleep(SECONDS_BETWEEN_BYTES * number / size)
        while not until.done():
            if number % NEVER_READING_PART == 0:
                await _never_read(port, until)
            else:
                await _trickle(port, in_body if number % 2 else head, connections)

    async def report_open() -> None:
        await asyncio.sleep(SECONDS_BETWEEN_BYTES)
        sys.stdout.write(OPEN)
        sys.stdout.flush()

    await asyncio.gather(report_open(), *[keep_open(number) for number in range(size)])
    return connections


async def _trickle(port: int, opening: bytes, connections: SlowConnections) -> None:
    """Send a byte now and then, in head or body, as long as the server accepts it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    answer = asyncio.create_task(reader.read())
    try:
        writer.write(opening)
        while not answer.done() and time.monotonic() < began + GIVE_UP_SECONDS:
            await asyncio.wait([answer], timeout=SECONDS_BETWEEN_BYTES)
            if not answer.done():
                writer.write(b" " if opening.endswith(b"\r\n\r\n") else b"X: a\r\n")
        connections.slowest = max(connections.slowest, time.monotonic() - began)
        connections.ends[_end(answer)] += 1
    finally:
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
        writer.close()


def _end(answer: asyncio.Task[bytes]) -> str:
    if not answer.done():
        return STILL_OPEN
    if answer.exception() is not None:
        return "reset"
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer.result())
    return found[1].decode() if found else "closed"


async def _never_read(port: int, until: asyncio.Future[Any]) -> None:
    """Request much and read nothing."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    try:
        writer.write(LARGE * 50)
        await asyncio.wait([until], timeout=GIVE_UP_SECONDS)
    finally:
        writer.close()


if __name__ == "__main__":
    kept = asyncio.run(_keep_all_open(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    sys.stdout.write(json.dumps({"ends": kept.ends, "slowest": kept.slowest}))
