"""Raw bytes on a connection: what HTTP clients refuse to send."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

GIVE_UP_SECONDS = 25.0
QUIET_SECONDS = 0.7  # time to wait for a second response


@dataclass(frozen=True, slots=True)
class Exchange:
    """The response on one connection."""

    statuses: tuple[int, ...]
    closed: bool  # closed by the server
    seconds: float  # until the first response was complete or the connection closed
    received: bytes


async def exchange(port: int, pieces: Sequence[bytes], *, pause: float = 0.0) -> Exchange:
    """Send the pieces with pauses, and read until the server has nothing more to send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    sending = asyncio.create_task(_send(writer, pieces, pause))
    received, closed, answered_at = b"", False, None
    try:
        while True:
            timeout = QUIET_SECONDS if answered_at else GIVE_UP_SECONDS
            try:
                more = await asyncio.wait_for(reader.read(65_536), timeout)
            except TimeoutError:
                break
            except OSError:
                more = b""
            if not more:
                closed = True
                break
            received += more
            if answered_at is None and _statuses(received)[-1:] not in ((), (100,)):
                answered_at = time.monotonic()
        seconds = (answered_at or time.monotonic()) - began
        return Exchange(_statuses(received), closed, seconds, received)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.close()


async def _send(writer: asyncio.StreamWriter, pieces: Sequence[bytes], pause: float) -> None:
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            if pause:
                await asyncio.sleep(pause)
    except OSError:
        return  # the server closed the connection, as expected


def _statuses(received: bytes) -> tuple[int, ...]:
    return tuple(int(found) for found in re.findall(rb"HTTP/1\.1 (\d{3}) ", received))
