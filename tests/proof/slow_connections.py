"""Many connections that send a byte now and then, and some that never read."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.proof.real_server import RealServer

HOST = b"Host: 127.0.0.1\r\n"
SECONDS_BETWEEN_BYTES = 1.0
GIVE_UP_SECONDS = 20.0
NEVER_READING_PART = 20  # one in this many
LARGE = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
STILL_OPEN = "still open"


@dataclass
class SlowConnections:
    ends: Counter[str] = field(default_factory=Counter)  # how the server closed them
    slowest: float = 0.0
    memory: int = 0  # peak memory of the server

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


async def open_slow_connections(
    server: RealServer, token: str, size: int, *, until: asyncio.Future[Any]
) -> SlowConnections:
    """Keep this many connections open, replacing closed ones, until `until` is done."""
    connections = SlowConnections()
    head = b"POST /m/core/billinggroup HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    head += b"Authorization: Bearer " + token.encode() + b"\r\n"
    in_body = head + b"Content-Length: 1000\r\n\r\n"

    async def keep_open(number: int) -> None:
        # not all at the same moment
        await asyncio.sleep(SECONDS_BETWEEN_BYTES * number / size)
        while not until.done():
            if number % NEVER_READING_PART == 0:
                await _never_read(server.port, until)
            else:
                await _trickle(server.port, in_body if number % 2 else head, connections)

    async def measure_memory() -> None:
        while not until.done():
            connections.memory = max(connections.memory, server.resident_bytes())
            await asyncio.sleep(0.5)

    await asyncio.gather(measure_memory(), *[keep_open(number) for number in range(size)])
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
