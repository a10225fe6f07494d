"""A TCP proxy in front of one or several servers, which can be interrupted for a while."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tests.proof.real_server import free_port

CHUNK_BYTES = 65_536
HOST = "127.0.0.1"


class TcpProxy:
    """Gives each connection to the next server that accepts it. Runs in a thread of its own."""

    def __init__(self) -> None:
        self.port = free_port()
        self._ports: list[int] = []
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    def add_server(self, port: int) -> None:
        self._ports.append(port)

    def interrupt(self) -> None:
        """Abort all connections and refuse new ones."""
        self._run(self._close())

    def resume(self) -> None:
        self._run(self._listen())

    def _run(self, step: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(step, self._loop).result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._forward, HOST, self.port)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            with suppress(OSError):
                server_reader, server_writer = await self._connect()
                self._writers.add(server_writer)
                await asyncio.gather(_copy(reader, server_writer), _copy(server_reader, writer))
        finally:
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in self._ports:
            self._ports.append(port := self._ports.pop(0))
            with suppress(OSError):
                return await asyncio.open_connection(HOST, port)
        raise ConnectionRefusedError


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(OSError):
            while chunk := await reader.read(CHUNK_BYTES):
                writer.write(chunk)
                await writer.drain()
    finally:
        writer.close()


@contextmanager
def tcp_proxy() -> Iterator[TcpProxy]:
    proxy = TcpProxy()
    loop = proxy._loop
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    proxy.resume()
    try:
        yield proxy
    finally:
        proxy.interrupt()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
