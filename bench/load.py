"""The load generator, a process of its own: each connection repeats a request without pause."""

import asyncio
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import msgspec
import uvloop

NUMBER_PLACEHOLDER = "{number}"  # in a body: replaced by an unused number of constant width
_NUMBER_WIDTH = 10

_numbers = itertools.count(1)


class LoadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A request that several connections repeat for a number of seconds."""

    port: int
    method: str
    path: str
    headers: list[dict[str, str]]  # one element per connection
    body: str = ""
    seconds: float
    warmup_seconds: float


class LoadResult(msgspec.Struct, frozen=True, kw_only=True):
    """The responses after the warm-up, or the first failure."""

    responses: int
    seconds: float
    milliseconds_median: float
    milliseconds_99: float
    failure: str | None = None

    @property
    def rate(self) -> float:
        return self.responses / self.seconds


class _Tally:
    """The shared counters of all connections of one run."""

    def __init__(self, plan: LoadPlan) -> None:
        now = time.perf_counter()
        self.warmup_end = now + plan.warmup_seconds
        self.end = self.warmup_end + plan.seconds
        self.latencies: list[float] = []
        self.failure: str | None = None
        self.last_response = self.warmup_end

    def add(self, sent_at: float, status: bytes, body: bytes) -> bool:
        """Record a response; return whether the connection should send another request."""
        now = time.perf_counter()
        if status != b"200":
            self.failure = self.failure or f"{status.decode()} {body[:500].decode()}"
        if now >= self.warmup_end:
            self.latencies.append(now - sent_at)
            self.last_response = now
        return now < self.end and self.failure is None

    def build_result(self) -> LoadResult:
        latencies = sorted(self.latencies) or [0.0]
        return LoadResult(
            responses=len(self.latencies),
            seconds=max(self.last_response - self.warmup_end, 1e-9),
            milliseconds_median=latencies[len(latencies) // 2] * 1000,
            milliseconds_99=latencies[len(latencies) * 99 // 100] * 1000,
            failure=self.failure,
        )


class _Connection(asyncio.Protocol):
    def __init__(
        self, requests: Iterator[bytes], tally: _Tally, on_close: Callable[[], None]
    ) -> None:
        self._requests = requests
        self._tally = tally
        self._on_close = on_close
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._sent_at = 0.0
        self._finished = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def _send(self) -> None:
        assert self._transport is not None
        self._received = b""
        self._sent_at = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator or len(body) < _read_content_length(head):
            return
        if self._tally.add(self._sent_at, head[9:12], body):
            self._send()
        else:
            self._finished = True
            self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self._finished:
            self._tally.failure = self._tally.failure or "connection closed without a response"
        self._on_close()


def _read_content_length(head: bytes) -> int:
    lowered = head.lower()
    start = lowered.index(b"content-length:") + len(b"content-length:")
    return int(lowered[start:].split(b"\r\n", 1)[0])


def _generate_requests(plan: LoadPlan, headers: dict[str, str]) -> Iterator[bytes]:
    body = plan.body.replace(NUMBER_PLACEHOLDER, "0" * _NUMBER_WIDTH).encode()
    all_headers = {"Host": f"127.0.0.1:{plan.port}", **headers}
    if body:
        all_headers = {"Content-Type": "application/json", **all_headers}
        all_headers["Content-Length"] = str(len(body))
    lines = [f"{plan.method} {plan.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in all_headers.items()]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    before, placeholder, after = plan.body.partition(NUMBER_PLACEHOLDER)
    start, end = head + before.encode(), after.encode()
    while True:
        number = f"{next(_numbers):0{_NUMBER_WIDTH}d}".encode() if placeholder else b""
        yield start + number + end


def _identity(connection: _Connection) -> _Connection:
    return connection


async def run_load(plan: LoadPlan) -> LoadResult:
    loop, tally = asyncio.get_running_loop(), _Tally(plan)
    closed: list[asyncio.Future[None]] = []
    for headers in plan.headers:
        future: asyncio.Future[None] = loop.create_future()
        closed.append(future)
        requests = _generate_requests(plan, headers)
        connection = _Connection(requests, tally, partial(future.set_result, None))
        await loop.create_connection(partial(_identity, connection), "127.0.0.1", plan.port)
    async with asyncio.timeout(plan.warmup_seconds + plan.seconds + 30):
        await asyncio.gather(*closed)
    return tally.build_result()


def main() -> None:
    """Read one plan per line from standard input; write one result per line."""
    decoder, encoder = msgspec.json.Decoder(LoadPlan), msgspec.json.Encoder()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        for line in sys.stdin.buffer:
            result = runner.run(run_load(decoder.decode(line)))
            sys.stdout.buffer.write(encoder.encode(result) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
