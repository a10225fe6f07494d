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
KEPT = "kept"


@dataclass
class SlowConnections:
    ends: Counter[str] = field(default_factory=Counter)  # how the server closed them
    slowest: float = 0.0
    memory: int = 0  # peak memory of the server

    def said(self) -> str:
        how = ", ".join(f"{count} × {what}" for what, count in self.ends.most_common())
        return f"{how}, the last after {self.slowest:.1f} s"

    def misses(self, within_seconds: float) -> list[str]:
        late = [f"a trickling connection lived {self.slowest:.1f} s"]
        kept = [f"{self.ends[KEPT]} trickling connections were kept"]
        return (late if self.slowest > within_seconds else []) + (kept if self.ends[KEPT] else [])


async def open_slow_connections(
    server: RealServer, token: str, size: int, *, until: asyncio.Future[Any]
) -> SlowConnections:
    """Keep this many connections open, replacing closed ones, until the block ends."""
    met = SlowConnections()
    head = b"POST /m/core/billinggroup HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    head += b"Authorization: Bearer " + token.encode() + b"\r\n"
    in_body = head + b"Content-Length: 1000\r\n\r\n"

    async def one(number: int) -> None:
        # not all at the same moment
        await asyncio.sleep(SECONDS_BETWEEN_BYTES * number / size)
        while not until.done():
            if number % NEVER_READING_PART == 0:
                await _never_read(server.port, until)
            else:
                await _trickle(server.port, in_body if number % 2 else head, met)

    async def weigh() -> None:
        while not until.done():
            met.memory = max(met.memory, server.resident_bytes())
            await asyncio.sleep(0.5)

    await asyncio.gather(weigh(), *[one(number) for number in range(size)])
    return met


async def _trickle(port: int, opening: bytes, met: SlowConnections) -> None:
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
        met.slowest = max(met.slowest, time.monotonic() - began)
        met.ends[_end(answer)] += 1
    finally:
        answer.cancel()
        await asyncio.gather(answer, return_exceptions=True)
        writer.close()


def _end(answer: asyncio.Task[bytes]) -> str:
    if not answer.done():
        return KEPT
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
