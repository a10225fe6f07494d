"""Imports that are larger than 256 MiB, sent with their length or in chunks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from tests.proof.real_server import RealServer

PATH = b"/m/core/costs/imports"
BYTES_MAX = 256 * 2**20
MORE_BYTES = 24 * 2**20  # sent at most beyond the limit: what waits in buffers is not refused yet
FILE_BYTES = 64 * 2**20  # no single file is too large
CHUNK = b" " * 2**18
BOUNDARY = b"----proof"
MEMORY_SECONDS = 0.1  # between two measurements
GIVE_UP_SECONDS = 120.0
KEPT_BYTES_MAX = 2**20  # a log or the like


@dataclass
class UploadResult:
    sent: int = 0  # bytes of the body
    refusal: str = "no response"  # status and code
    memory: int = 0  # peak, more than before
    kept: int = 0  # bytes on the disk afterwards, more than before

    def find_faults(self, name: str, *, at_once: bool, memory_max: int) -> list[str]:
        misses = []
        if self.refusal != "413 body_too_large":
            misses.append(f"{name}: {self.refusal}")
        if self.sent > (0 if at_once else BYTES_MAX + MORE_BYTES):
            misses.append(f"{name}: {self.sent / 2**20:.0f} MiB were accepted")
        if self.memory > memory_max:
            misses.append(f"{name}: {self.memory / 2**20:.0f} MB more memory")
        if self.kept > KEPT_BYTES_MAX:
            misses.append(f"{name}: {self.kept / 2**20:.0f} MiB were kept")
        return misses


async def announce_upload(server: RealServer, token: str, length: int) -> UploadResult:
    """Announce the length and send nothing: the refusal must not wait for the body."""
    return await _send(server, _head(token, b"Content-Length: %d" % length), None)


async def send_upload_in_chunks(server: RealServer, token: str) -> UploadResult:
    """Send files until the server refuses, or until it should have refused for long."""
    head = _head(token, b"Transfer-Encoding: chunked")
    return await _send(server, head, _files(BYTES_MAX + 2 * MORE_BYTES))


def _head(token: str, framing: bytes) -> bytes:
    head = b"POST " + PATH + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
    head += token.encode() + b"\r\nContent-Type: multipart/form-data; boundary=" + BOUNDARY
    return head + b"\r\n" + framing + b"\r\n\r\n"


async def _files(size: int) -> AsyncIterator[bytes]:
    """The form with its files, in pieces."""
    sent = number = 0
    while sent < size:
        number += 1
        part = b"\r\n--" + BOUNDARY + b'\r\nContent-Disposition: form-data; name="file"; '
        yield part + b'filename="part-%d.csv"\r\n\r\n' % number
        for _ in range(FILE_BYTES // len(CHUNK)):
            yield CHUNK
        sent += FILE_BYTES
    yield b"\r\n--" + BOUNDARY + b"--\r\n"


async def _send(
    server: RealServer, head: bytes, pieces: AsyncIterator[bytes] | None
) -> UploadResult:
    result, memory, kept = UploadResult(), server.resident_bytes(), _bytes_in(server.data)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    answer = asyncio.create_task(_read_answer(reader))

    async def measure_memory() -> None:
        while True:
            result.memory = max(result.memory, server.resident_bytes() - memory)
            await asyncio.sleep(MEMORY_SECONDS)

    measuring = asyncio.create_task(measure_memory())
    try:
        writer.write(head)
        if pieces is not None:
            await _send_until_answered(writer, pieces, answer, result)
        await asyncio.wait([answer], timeout=GIVE_UP_SECONDS)
    finally:
        measuring.cancel()
        answer.cancel()
        await asyncio.gather(measuring, answer, return_exceptions=True)
        writer.close()
    if not answer.cancelled() and answer.exception() is None:
        result.refusal = answer.result()
    result.kept = _bytes_in(server.data) - kept
    return result


async def _read_answer(reader: asyncio.StreamReader) -> str:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    body = await reader.readexactly(int(length[1])) if length else b""
    code = re.search(rb'"code": ?"(\w+)"', body)
    return f"{head[9:12].decode()} {(code[1] if code else body[:200]).decode()}"


async def _send_until_answered(
    writer: asyncio.StreamWriter,
    pieces: AsyncIterator[bytes],
    answer: asyncio.Task[str],
    result: UploadResult,
) -> None:
    try:
        async for piece in pieces:
            if answer.done():
                return
            writer.write(b"%x\r\n" % len(piece) + piece + b"\r\n")
            await writer.drain()
            result.sent += len(piece)
        writer.write(b"0\r\n\r\n")
    except OSError:
        return  # the server closed the connection after its response


def _bytes_in(folder: Path) -> int:
    sizes = []
    for file in folder.rglob("*"):
        try:
            sizes.append(file.stat().st_size if file.is_file() else 0)
        except FileNotFoundError:
            continue
    return sum(sizes)
