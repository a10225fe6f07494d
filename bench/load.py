"""The load, a process of its own: connections that ask again as soon as they are answered."""

import asyncio
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import msgspec
import uvloop

NUMBER = "{number}"  # in a body: a number never sent before, always of the same width
_WIDTH = 10

_numbers = itertools.count(1)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One request, asked over and over on several connections for so many seconds."""

    port: int
    method: str
    path: str
    headers: list[dict[str, str]]  # those of each connection
    body: str = ""
    seconds: float
    warm_seconds: float


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What was answered after the warm-up, or the first answer that was not 200."""

    answered: int
    seconds: float
    milliseconds_median: float
    milliseconds_99: float
    refusal: str | None = None

    @property
    def rate(self) -> float:
        return self.answered / self.seconds


class _Tally:
    """What all connections of one run report to."""

    def __init__(self, plan: Plan) -> None:
        now = time.perf_counter()
        self.counts_from = now + plan.warm_seconds
        self.until = self.counts_from + plan.seconds
        self.waits: list[float] = []
        self.refusal: str | None = None
        self.last_answer = self.counts_from

    def note(self, asked: float, status: bytes, answer: bytes) -> bool:
        """Whether the connection should ask again."""
        now = time.perf_counter()
        if status != b"200":
            self.refusal = self.refusal or f"{status.decode()} {answer[:500].decode()}"
        if now >= self.counts_from:
            self.waits.append(now - asked)
            self.last_answer = now
        return now < self.until and self.refusal is None

    def measured(self) -> Measured:
        waits = sorted(self.waits) or [0.0]
        return Measured(
            answered=len(self.waits),
            seconds=max(self.last_answer - self.counts_from, 1e-9),
            milliseconds_median=waits[len(waits) // 2] * 1000,
            milliseconds_99=waits[len(waits) * 99 // 100] * 1000,
            refusal=self.refusal,
        )


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], tally: _Tally, done: Callable[[], None]) -> None:
        self._requests = requests
        self._tally = tally
        self._done = done
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._asked = 0.0
        self._answered_all = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        assert self._transport is not None
        self._received = b""
        self._asked = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or len(body) < _content_length(head):
            return
        if self._tally.note(self._asked, head[9:12], body):
            self._ask()
        else:
            self._answered_all = True
            self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self._answered_all:
            self._tally.refusal = self._tally.refusal or "the connection was closed unanswered"
        self._done()


def _content_length(head: bytes) -> int:
    lowered = head.lower()
    at = lowered.index(b"content-length:") + len(b"content-length:")
    return int(lowered[at:].split(b"\r\n", 1)[0])


def _requests(plan: Plan, own: dict[str, str]) -> Iterator[bytes]:
    body = plan.body.replace(NUMBER, "0" * _WIDTH).encode()
    headers = {"Host": f"127.0.0.1:{plan.port}", **own}
    if body:
        headers = {"Content-Type": "application/json", **headers}
        headers["Content-Length"] = str(len(body))
    lines = [f"{plan.method} {plan.path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    before, marker, after = plan.body.partition(NUMBER)
    start, end = head + before.encode(), after.encode()
    while True:
        yield start + (f"{next(_numbers):0{_WIDTH}d}".encode() if marker else b"") + end


def _itself(connection: _Connection) -> _Connection:
    return connection


async def run(plan: Plan) -> Measured:
    loop, tally = asyncio.get_running_loop(), _Tally(plan)
    ends: list[asyncio.Future[None]] = []
    for own in plan.headers:
        end: asyncio.Future[None] = loop.create_future()
        ends.append(end)
        connection = _Connection(_requests(plan, own), tally, partial(end.set_result, None))
        await loop.create_connection(partial(_itself, connection), "127.0.0.1", plan.port)
    async with asyncio.timeout(plan.warm_seconds + plan.seconds + 30):
        await asyncio.gather(*ends)
    return tally.measured()


def main() -> None:
    """A plan per line in, what was measured per line out, until there are no more."""
    decoder, encoder = msgspec.json.Decoder(Plan), msgspec.json.Encoder()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(encoder.encode(runner.run(run(decoder.decode(line)))) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
