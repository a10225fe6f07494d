"""A TCP proxy between the service and PostgreSQL that disturbs their connections.

It forwards bytes and does not read the protocol. Dropped packets are real ones: a filter of the
kernel discards what arrives at a socket, so that nothing is acknowledged.
"""

from __future__ import annotations

import asyncio
import ctypes
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum

from nimbill.database.embedded_postgres import Address
from tests.proof.real_server import free_port
from tests.proof.row import NotPossibleHere

CHUNK_BYTES = 65_536
LATENCY_SECONDS = (0.005, 0.06)  # of each piece, in both directions
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27  # of Linux; missing in the socket module
# Programs for the kernel's filter: one drops every packet, the other all but those with SYN or RST.
# The service may open a connection from the port of one that it has given up. A forgotten socket
# that dropped that SYN too would swallow it until the connection timed out.
DROP_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0)
DROP_DATA = b"".join(
    (
        struct.pack("=HBBI", 0x30, 0, 0, 13),  # load the flags of the TCP header
        struct.pack("=HBBI", 0x45, 0, 1, 0x02 | 0x04),  # if SYN or RST is set …
        struct.pack("=HBBI", 0x06, 0, 0, 0xFFFF),  # … accept the packet
        DROP_ALL,
    )
)
FILTER_REFUSED = "this kernel lets only an administrator of the network drop packets"


class NetworkFault(Enum):
    down = "down"  # connections are reset and new ones refused
    slow = "slow"  # every piece arrives late
    stalled = "stalled"  # acknowledged by the kernel, but never forwarded
    dropped = "dropped"  # packets vanish in both directions
    reset = "reset"  # connections are reset in the middle of the next reply
    half_open = "half-open"  # open connections are forgotten by one side only; new ones work


def require_packet_filters() -> None:
    """Connections can only be half-open, and packets lost, where the kernel accepts a filter."""
    with socket.socket() as sock:
        try:
            drop_packets(sock)
        except PermissionError:
            raise NotPossibleHere(FILTER_REFUSED) from None


def drop_packets(sock: socket.socket, instructions: bytes = DROP_ALL) -> None:
    program = ctypes.create_string_buffer(instructions)
    count = len(instructions) // len(DROP_ALL)
    filter_ = struct.pack("HP", count, _address(program))
    sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)


def _address(buffer: ctypes.Array[ctypes.c_char]) -> int:
    return ctypes.addressof(buffer)


def accept_packets(sock: socket.socket) -> None:
    with suppress(OSError):  # it has no filter
        sock.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)


@dataclass(eq=False)
class _Link:
    """One connection of the service and its counterpart at the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    forgotten: bool = False
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def client_socket(self) -> socket.socket:
        return self.client.get_extra_info("socket")._sock  # type: ignore[no-any-return]

    def reset(self) -> None:
        """Close both sides; the service gets RST instead of FIN."""
        with suppress(OSError):
            linger = struct.pack("ii", 1, 0)
            self.client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.client.transport.abort()
        self.server.transport.abort()


class FaultyNetwork:
    """Its methods may be called from any thread; the proxy runs in a thread of its own."""

    def __init__(self, server: Address, seed: int) -> None:
        self._path = f"{server.host}/.s.PGSQL.{server.port}"
        self._port = free_port()
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._links: set[_Link] = set()
        self._flowing = asyncio.Event()
        self._fault: NetworkFault | None = None
        self._listener: asyncio.Server | None = None
        self.address = replace(server, host="127.0.0.1", port=self._port)

    def begin(self, fault: NetworkFault) -> None:
        self._call(self._begin(fault))

    def end(self) -> None:
        self._call(self._end())

    def _call(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(120)  # type: ignore[arg-type]

    async def _begin(self, fault: NetworkFault) -> None:
        self._fault = fault
        if fault in (NetworkFault.stalled, NetworkFault.dropped):
            self._flowing.clear()
        if fault is NetworkFault.down:
            await self._stop_listening()
            for link in [link for link in self._links if not link.forgotten]:
                link.reset()
        if fault is NetworkFault.dropped:
            for sock in self._reachable_sockets():
                drop_packets(sock)
        if fault is NetworkFault.half_open:
            for link in [link for link in self._links if not link.forgotten]:
                link.forgotten = True
                link.client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 0)
                drop_packets(link.client_socket, DROP_DATA)
                link.server.transport.abort()

    async def _end(self) -> None:
        fault, self._fault = self._fault, None
        if fault is NetworkFault.down:
            await self.listen()
        if fault is NetworkFault.dropped:
            for sock in self._reachable_sockets():
                accept_packets(sock)
        self._flowing.set()

    def _reachable_sockets(self) -> list[socket.socket]:
        listening = self._listener.sockets if self._listener else ()
        return [
            *(sock._sock for sock in listening),  # type: ignore[attr-defined]
            *(link.client_socket for link in self._links if not link.forgotten),
        ]

    async def listen(self) -> None:
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", self._port)

    async def _stop_listening(self) -> None:
        if self._listener:
            self._listener.close()
            self._listener = None

    async def _connected(
        self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter
    ) -> None:
        try:
            await self._flowing.wait()
            server_reader, server = await asyncio.open_unix_connection(self._path)
        except OSError:
            client.transport.abort()
            return
        link = _Link(client, server)
        _notice_lost_peer(link.client_socket)
        self._links.add(link)
        link.tasks = [
            asyncio.create_task(self._forward(link, client_reader, server, reply=False)),
            asyncio.create_task(self._forward(link, server_reader, client, reply=True)),
        ]
        try:
            await asyncio.wait(link.tasks, return_when=asyncio.FIRST_COMPLETED)
            if link.forgotten:
                await asyncio.wait(link.tasks)  # the service hears nothing of it
        finally:
            self._links.discard(link)
            for task in link.tasks:
                task.cancel()
            client.transport.abort()
            server.transport.abort()

    async def _forward(
        self,
        link: _Link,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        *,
        reply: bool,
    ) -> None:
        with suppress(OSError):
            while piece := await source.read(CHUNK_BYTES):
                await self._flowing.wait()
                if self._fault is NetworkFault.slow:
                    await asyncio.sleep(self._random.uniform(*LATENCY_SECONDS))
                if self._fault is NetworkFault.reset and reply:
                    target.write(piece[: len(piece) // 2])
                    await asyncio.sleep(0)
                    link.reset()
                    return
                target.write(piece)
                await target.drain()

    def run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._flowing.set()
        self._loop.run_until_complete(self.listen())
        ready.set()
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    def stop(self) -> None:
        self._call(self._stop_listening())
        self._loop.call_soon_threadsafe(self._loop.stop)


def _notice_lost_peer(sock: socket.socket) -> None:
    """As the server's own settings do: it ends a connection whose other side is gone."""
    for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1)):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


@contextmanager
def faulty_network(server: Address, seed: int) -> Iterator[FaultyNetwork]:
    network, ready = FaultyNetwork(server, seed), threading.Event()
    thread = threading.Thread(target=network.run, args=(ready,), daemon=True)
    thread.start()
    assert ready.wait(120)
    try:
        yield network
    finally:
        network.stop()
        thread.join(120)
