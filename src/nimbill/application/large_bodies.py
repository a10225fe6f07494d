"""Sends large bodies in pieces, and does not keep them in memory for clients that read slowly."""

import asyncio
import tempfile
from typing import IO

from litestar.types import Send

# See docs/choices.md, request-limits.

LARGE_BYTES = 262_144
PIECE_BYTES = 65_536
PATIENCE_SECONDS = 1.0  # for one piece; then the rest waits in a file
IN_MEMORY_BYTES_MAX = 16 * 2**20  # of all bodies in a worker; beyond it there is no patience


class LargeBody:
    """The only reference to the content, so that it can be given up."""

    in_memory = 0  # bytes of all of them in this worker

    def __init__(self, content: bytes) -> None:
        self.size = len(content)
        self._content = content
        self._position = 0
        self._file: IO[bytes] | None = None
        LargeBody.in_memory += self.size

    @property
    def is_in_file(self) -> bool:
        return self._file is not None

    async def read_piece(self) -> bytes:
        """Return the next piece; it is empty at the end."""
        if self._file is not None:
            return await asyncio.to_thread(self._file.read, PIECE_BYTES)
        piece = self._content[self._position : self._position + PIECE_BYTES]
        self._position += len(piece)
        return piece

    def move_to_file(self) -> None:
        """Move what was not read to a file without a name; if the disk is full, keep it."""
        try:
            file = _open_file()
        except OSError:
            return
        try:
            file.write(memoryview(self._content)[self._position :])
            file.seek(0)
        except OSError:
            file.close()
            return
        self._file = file
        self._give_up_content()

    def _give_up_content(self) -> None:
        LargeBody.in_memory -= len(self._content)
        self._content = b""

    def close(self) -> None:
        self._give_up_content()
        if self._file is not None:
            self._file.close()


def _open_file() -> IO[bytes]:
    return tempfile.TemporaryFile()  # closed with the body


async def send_large_body(send: Send, body: LargeBody) -> None:
    sending: asyncio.Future[None] | None = None
    is_patient, sent = True, 0
    try:
        while sent < body.size:
            piece = await body.read_piece()
            sent += len(piece)
            sending = asyncio.ensure_future(_send_piece(send, piece, is_last=sent == body.size))
            if is_patient and not await _finishes_soon(sending):
                is_patient = False
                await asyncio.to_thread(body.move_to_file)
            await sending
    finally:
        if sending is not None:
            sending.cancel()  # if the client is gone
        body.close()


async def _send_piece(send: Send, piece: bytes, *, is_last: bool) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": not is_last})


async def _finishes_soon(sending: asyncio.Future[None]) -> bool:
    patience = PATIENCE_SECONDS if LargeBody.in_memory <= IN_MEMORY_BYTES_MAX else 0.0
    finished, _ = await asyncio.wait([sending], timeout=patience)
    return bool(finished)
