"""Clients that download a large file and read it very slowly."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.proof.real_server import RealServer
from tests.proof.row_environment import RowEnvironment
from tests.temporary_database import execute_sql

FILE_BYTES = 8 * 2**20  # more than the kernel keeps for a connection
RECEIVE_BUFFER = 4_096
READ_BYTES = 512
SECONDS_BETWEEN_READS = 0.5
HEAD_SECONDS_MAX = 30.0


@dataclass
class SlowReaders:
    begun: int = 0  # downloads whose response began
    closed: int = 0  # those that the server ended early
    connections: list[socket.socket] = field(default_factory=list)

    async def read_on(self, *, until: asyncio.Future[Any]) -> None:
        """Read slowly on all connections until `until` is done, and close them."""
        await asyncio.gather(*[self._read_one(each, until) for each in self.connections])

    async def _read_one(self, connection: socket.socket, until: asyncio.Future[Any]) -> None:
        loop = asyncio.get_running_loop()
        with connection:
            while not until.done():
                if not await loop.sock_recv(connection, READ_BYTES):
                    self.closed += 1
                    return
                await asyncio.wait([until], timeout=SECONDS_BETWEEN_READS)


def export_large_file(environment: RowEnvironment) -> str:
    """Return the path of a signed link to a CSV file that is as large as FILE_BYTES."""
    service = environment.service
    root = service.root(service.new_organisation("R2 large"))
    exported = service.http.post(
        "/m/core/exportcsv/billing-group", json={"redo": False}, headers=root
    )
    assert exported.status_code == 200, exported.text
    link = urlsplit(exported.json()["path"])
    line = b"name,company,address\r\n"
    content = line * (FILE_BYTES // len(line))
    export_id = link.path.rpartition("/")[2]
    sql = "UPDATE exports SET content = $1 WHERE export_id = $2"
    execute_sql(environment.superuser, sql, content, export_id)
    return f"{link.path}?{link.query}"


async def begin_downloads(server: RealServer, path: str, count: int) -> SlowReaders:
    """Begin one after the other, so that a worker does not load the file for many at once."""
    loop, readers = asyncio.get_running_loop(), SlowReaders()
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    for _ in range(count):
        connection = await _connect(server.port)
        await loop.sock_sendall(connection, request)
        head = loop.sock_recv(connection, READ_BYTES)
        start = await asyncio.wait_for(head, HEAD_SECONDS_MAX)
        readers.begun += start.startswith(b"HTTP/1.1 200 ")
        readers.connections.append(connection)
    return readers


async def _connect(port: int) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    return connection
