"""A proxy between the service and PostgreSQL that counts statements and can kill at one of them.

It reads the wire protocol only; the service does not know it. A statement is a Query or an Execute
message.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nimbill.database.embedded_postgres import Address
from tests.proof.event_trigger import EventTrigger

QUERY, PARSE, BIND, EXECUTE = b"Q", b"P", b"B", b"E"
READY = b"Z"
HEAD_BYTES = 5
CHUNK_BYTES = 65_536
TEXT_MAX = 240
SHOWN_MAX = 60


@dataclass(frozen=True, slots=True)
class At:
    """The n-th statement with these words after arming: before or after it runs."""

    text: str
    number: int
    answered: bool

    def __str__(self) -> str:
        return f"{'after' if self.answered else 'before'} “{self.text[:SHOWN_MAX]}” ({self.number})"


class CountingProxy(EventTrigger[At]):
    def __init__(self, folder: Path, behind: Address) -> None:
        super().__init__()
        self._behind = behind
        self._socket = folder / f".s.PGSQL.{behind.port}"
        self.address = replace(behind, host=str(folder))

    async def serve(self, ready: threading.Event, over: asyncio.Event) -> None:
        async with await asyncio.start_unix_server(self._connected, self._socket):
            ready.set()
            await over.wait()

    async def _connected(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            path = f"{self._behind.host}/.s.PGSQL.{self._behind.port}"
            far, forth = await asyncio.open_unix_connection(path)
            try:
                await _Conversation(self, near, forth, far, back).hold()
            finally:
                forth.close()
        back.close()

    def counted(self, text: str) -> tuple[bool, bool]:
        """Whether to fire now, and whether to fire once this statement is answered."""
        self.seen.append(text)
        at = self.at
        if at is None or at.text != text or self.seen.count(text) != at.number:
            return False, False
        return not at.answered, at.answered


class _Conversation:
    """One connection of the service, relayed in both directions."""

    def __init__(
        self,
        proxy: CountingProxy,
        near: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
        far: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        self.proxy, self.near, self.forth, self.far, self.back = proxy, near, forth, far, back
        self.texts: dict[bytes, str] = {}  # text of prepared statements by name
        self.bound = ""
        self.last = ""
        self.strike_when_ready = False

    async def hold(self) -> None:
        """Relay until one side closes, then close the other."""
        ways = [asyncio.create_task(self._ask()), asyncio.create_task(self._answer())]
        _, waiting = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in waiting:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)

    async def _ask(self) -> None:
        size = await self.near.readexactly(4)  # the first message has no type byte
        self.forth.write(size + await self.near.readexactly(struct.unpack("!I", size)[0] - 4))
        await self.forth.drain()
        while True:
            head = await self.near.readexactly(HEAD_BYTES)
            body = await self.near.readexactly(struct.unpack("!I", head[1:])[0] - 4)
            text = self._statement(head[:1], body)
            if text is not None:
                # commits cannot be distinguished
                text, self.last = (f"COMMIT of {self.last}" if _ends(text) else text), text
                now, self.strike_when_ready = self.proxy.counted(text)
                if now:
                    self.proxy.fire()
                    return
            self.forth.write(head + body)
            await self.forth.drain()

    def _statement(self, letter: bytes, body: bytes) -> str | None:
        """The text of a statement message."""
        if letter == QUERY:
            return _words(body)
        if letter == PARSE:
            name, _, rest = body.partition(b"\0")
            self.texts[name] = _words(rest)
        elif letter == BIND:
            name = body.split(b"\0", 2)[1]
            self.bound = self.texts.get(name, "")
        elif letter == EXECUTE:
            return self.bound
        return None

    async def _answer(self) -> None:
        while piece := await self.far.read(CHUNK_BYTES):
            # responses to everything sent so far are in this chunk or a later one
            if not self._struck_by():
                self.back.write(piece)
                await self.back.drain()
            elif (
                piece[-6:-5] == READY
            ):  # the statement is complete, and nobody receives the response
                self.proxy.fire()
                return

    def _struck_by(self) -> bool:
        return self.strike_when_ready


def _ends(text: str) -> bool:
    return text.startswith("COMMIT")


def _words(body: bytes) -> str:
    text = body.partition(b"\0")[0].decode(errors="replace")
    return " ".join(text.split())[:TEXT_MAX]


@contextmanager
def counting_proxy(folder: Path, behind: Address) -> Iterator[CountingProxy]:
    """Serve from a thread; the socket is in `folder`."""
    proxy, ready = CountingProxy(folder, behind), threading.Event()
    loop, over = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(
        target=loop.run_until_complete, args=(proxy.serve(ready, over),), daemon=True
    )
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
