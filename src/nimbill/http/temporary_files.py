"""Responses that are written to a file before they are sent."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import IO, Any

from litestar import Request
from litestar.response import Stream

from nimbill.http.disconnection import run_until_disconnected

CHUNK = 1 << 18


async def send_written_file(
    request: Request[Any, Any, Any],
    folder: Path,
    write: Callable[[IO[bytes]], Coroutine[Any, Any, object]],
    *,
    name: str,
    media_type: str,
) -> Stream:
    """Send what `write` writes, which ends if the caller disconnects."""
    file = await asyncio.to_thread(_open_temporary_file, folder)
    try:
        await run_until_disconnected(request, write(file))
    except BaseException:
        file.close()
        raise
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Stream(_read_chunks(file), media_type=media_type, headers=headers)


def _open_temporary_file(folder: Path) -> IO[bytes]:
    """Open a file without a name, so that nothing is left behind if the request fails."""
    return tempfile.TemporaryFile(dir=folder)  # closed after it is sent


async def _read_chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    with file:
        file.seek(0)
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
