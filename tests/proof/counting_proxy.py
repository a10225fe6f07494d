"""A proxy between the service and PostgreSQL that counts statements and can kill at one of them.

It reads the wire protocol; the service is not aware of it. A statement is a Query or an Execute
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
class AtStatement:
    """The n-th statement with this text after arming: before or after it runs."""

    text: str
    number: int
    after: bool

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'} “{self.text[:SHOWN_MAX]}” ({self.number})"


class CountingProxy(EventTrigger[AtStatement]):
    def __init__(self, folder: Path, server: Address) -> None:
        super().__init__()
        self._server = server
        self._socket = folder / f".s.PGSQL.{server.port}"
        self.address = replace(server, host=str(folder))

    async def serve(self, ready: threading.Event, stopped: asyncio.Event) -> None:
        async with await asyncio.start_unix_server(self._connected, self._socket):
            ready.set()
            await stopped.wait()

    async def _connected(
        self, client_reader: asyncio.StreamReader, client_writer: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            path = f"{self._server.host}/.s.PGSQL.{self._server.port}"
            server_reader, server_writer = await asyncio.open_unix_connection(path)
            try:
                await _RelayedConnection(
                    self, client_reader, server_writer, server_reader, client_writer
                ).relay()
            finally:
                server_writer.close()
        client_writer.close()

    def count(self, text: str) -> tuple[bool, bool]:
        """Whether to fire now, and whether to fire after the response to this statement."""
        self.events.append(text)
        point = self.point
        if point is None or point.text != text or self.events.count(text) != point.number:
            return False, False
        return not point.after, point.after


class _RelayedConnection:
    """One connection of the service, relayed in both directions."""

    def __init__(
        self,
        proxy: CountingProxy,
        client_reader: asyncio.StreamReader,
        server_writer: asyncio.StreamWriter,
        server_reader: asyncio.StreamReader,
        client_writer: asyncio.StreamWriter,
    ) -> None:
        (
            self.proxy,
            self.client_reader,
            self.server_writer,
            self.server_reader,
            self.client_writer,
        ) = proxy, client_reader, server_writer, server_reader, client_writer
        self.texts: dict[bytes, str] = {}  # text of prepared statements by name
        self.bound_statement = ""
        self.last_statement = ""
        self.fire_when_ready = False

    async def relay(self) -> None:
        """Relay until one side closes, then close the other."""
        tasks = [
            asyncio.create_task(self._relay_requests()),
            asyncio.create_task(self._relay_responses()),
        ]
        _, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _relay_requests(self) -> None:
        size = await self.client_reader.readexactly(4)  # the first message has no type byte
        self.server_writer.write(
            size + await self.client_reader.readexactly(struct.unpack("!I", size)[0] - 4)
        )
        await self.server_writer.drain()
        while True:
            head = await self.client_reader.readexactly(HEAD_BYTES)
            body = await self.client_reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)
            text = self._statement(head[:1], body)
            if text is not None:
                # the text of a commit does not say what it commits
                text, self.last_statement = (
                    (f"COMMIT of {self.last_statement}" if _is_commit(text) else text),
                    text,
                )
                now, self.fire_when_ready = self.proxy.count(text)
                if now:
                    self.proxy.fire()
                    return
            self.server_writer.write(head + body)
            await self.server_writer.drain()

    def _statement(self, letter: bytes, body: bytes) -> str | None:
        """The text of a statement message."""
        if letter == QUERY:
            return _statement_text(body)
        if letter == PARSE:
            name, _, rest = body.partition(b"\0")
            self.texts[name] = _statement_text(rest)
        elif letter == BIND:
            name = body.split(b"\0", 2)[1]
            self.bound_statement = self.texts.get(name, "")
        elif letter == EXECUTE:
            return self.bound_statement
        return None

    async def _relay_responses(self) -> None:
        while piece := await self.server_reader.read(CHUNK_BYTES):
            # responses to everything sent so far are in this chunk or a later one
            if not self._fires_when_ready():
                self.client_writer.write(piece)
                await self.client_writer.drain()
            elif piece[-6:-5] == READY:  # the statement is complete; its response is dropped
                self.proxy.fire()
                return

    def _fires_when_ready(self) -> bool:
        return self.fire_when_ready


def _is_commit(text: str) -> bool:
    return text.startswith("COMMIT")


def _statement_text(body: bytes) -> str:
    text = body.partition(b"\0")[0].decode(errors="replace")
    return " ".join(text.split())[:TEXT_MAX]


@contextmanager
def counting_proxy(folder: Path, server: Address) -> Iterator[CountingProxy]:
    """Serve from a thread; the socket is in `folder`."""
    proxy, ready = CountingProxy(folder, server), threading.Event()
    loop, stopped = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(
        target=loop.run_until_complete, args=(proxy.serve(ready, stopped),), daemon=True
    )
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(stopped.set)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
