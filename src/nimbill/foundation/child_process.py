"""Ends the input of a child process."""

from asyncio.subprocess import Process
from contextlib import suppress


async def discard_input(process: Process) -> None:
    """Drop what an ended process did not read.

    Otherwise asyncio logs an error of its pipe at some later time, as nobody waits for the pipe.
    """
    assert process.stdin is not None
    if not process.stdin.is_closing():
        process.stdin.transport.abort()
    with suppress(ConnectionError):
        await process.stdin.wait_closed()
