"""Sends many parallel password guesses from a low-priority process, like another computer.

Usage: python -m tests.proof.login_flood <port>. Reads a JSON list of requests (see `Guess`) from
standard input and sends each over its own connection repeatedly until standard input ends; then
prints how often each status was received.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass

from tests.proof.other_computers import start_other_computer

NUMBER = "{number}"  # placeholder for a number, so that no name is guessed twice


@dataclass(frozen=True, slots=True)
class Guess:
    path: str
    content_type: str
    body: str
    address: str  # the client address that the trusted proxy reports


class Flood:
    """Runs from its creation until it is ended."""

    def __init__(self, port: int, guesses: list[Guess]) -> None:
        self._process = start_other_computer("tests.proof.login_flood", str(port))
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([asdict(guess) for guess in guesses]) + "\n")
        self._process.stdin.flush()

    def end(self) -> Counter[int]:
        """Number of responses by status; 0 for closed connections."""
        output, _ = self._process.communicate(timeout=60)
        return Counter({int(status): count for status, count in json.loads(output).items()})


async def _flood(port: int, guesses: list[Guess]) -> Counter[int]:
    statuses: Counter[int] = Counter()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, stopped.set)
    sending = [asyncio.create_task(_guess(port, guess, statuses)) for guess in guesses]
    await stopped.wait()
    for task in sending:
        task.cancel()
    await asyncio.gather(*sending, return_exceptions=True)
    return statuses


async def _guess(port: int, guess: Guess, statuses: Counter[int]) -> None:
    number = 0
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while True:
                number += 1
                writer.write(_encode_request(guess, number))
                statuses[await _status(reader)] += 1
        except (OSError, asyncio.IncompleteReadError):
            statuses[0] += 1
            await asyncio.sleep(0.1)


def _encode_request(guess: Guess, number: int) -> bytes:
    body = guess.body.replace(NUMBER, str(number)).encode()
    head = (
        f"POST {guess.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {guess.address}\r\n"
        f"Content-Type: {guess.content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _status(reader: asyncio.StreamReader) -> int:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
    return int(head.split(maxsplit=2)[1])


if __name__ == "__main__":
    to_send = [Guess(**fields) for fields in json.loads(sys.stdin.readline())]
    print(json.dumps(asyncio.run(_flood(int(sys.argv[1]), to_send))))
