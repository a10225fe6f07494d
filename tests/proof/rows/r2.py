"""Bodies, headers and connections that are too large, too slow or ambiguous are refused.

Against a real server: every case of unsound_framing.py, and many connections that send a byte now
and then, in head or body, beside some that never read. The server's own header timeout closes
connections without a response; everything else is answered.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

import httpx

from tests.proof.malformed_framing import FramingCase, at_the_limit, cases
from tests.proof.raw_http import Exchange, exchange
from tests.proof.real_server import RealServer, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.slow_connections import SlowConnections, open_slow_connections
from tests.proof.timed_requests import Waited, finish_timing, start_timing

TARGET = (
    "413, 431 or 408 within 10 s, nothing smuggled; under 1,000 slow connections an honest "
    "client's p99 is at most twice that of an idle server, memory at most 128 MB more"
)
QUICK = 50  # slow connections
FULL = 1_000
SECONDS_MAX = 600

REFUSED_WITHIN_SECONDS = 10.0
SILENT_CONNECTIONS = 1_200
SECONDS_BESIDE_SILENT_MAX = 1.5  # for each case; a watchdog
AT_ONCE = 8
MEMORY_MAX = 128 * 2**20
TIMED_SECONDS = 6.0
# allowed slowdown of an honest client; only a watchdog for few connections
TIMES_MAX, TIMES_MAX_QUICK = 2.0, 10.0
LEAST_P99_MS = 20.0  # in make test: shorter waits are noise


@dataclass(frozen=True)
class Under:
    """Effect of slow connections on the server and on an honest client."""

    slow: SlowConnections
    idle: Waited
    busy: Waited
    memory: int


def measure(environment: RowEnvironment, size: int) -> Measurement:
    settings = {
        "NIMBILL_DATABASE_URL": environment.postgres.url,
        "NIMBILL_KEY_FILE": str(environment.service.settings.key_file),
        "NIMBILL_RATE_LIMIT": "0",
    }
    _allow_many_files()
    organisation = environment.service.new_organisation("R2")
    token = environment.service.root(organisation)["Authorization"].removeprefix("Bearer ")
    with real_server(environment.new_folder("r2") / "data", settings) as server:
        answered, misses = asyncio.run(_send_cases(server, token))
        misses += _beside_silent_connections(server)
        under = asyncio.run(_under_slow_connections(server, token, size))
        if server.process.poll() is not None:
            misses.append("the server ended")
    times = TIMES_MAX if size >= FULL else TIMES_MAX_QUICK
    least = 0.0 if size >= FULL else LEAST_P99_MS
    return Measurement(_said(answered, under, size), misses + _too_much(under, times, least))


def _said(answered: Counter[str], under: Under, size: int) -> str:
    how = ", ".join(f"{count} × {what}" for what, count in answered.most_common())
    return (
        f"{sum(answered.values())} unsound requests: {how}; {size} trickling connections: "
        f"{under.slow.said()}; honest p99 {under.idle.p99:.1f} ms idle, {under.busy.p99:.1f} ms "
        f"under them ({under.busy.requests} requests, {under.busy.failed} failed); memory "
        f"{under.memory / 2**20:+.0f} MB"
    )


async def _send_cases(server: RealServer, token: str) -> tuple[Counter[str], list[str]]:
    answered: Counter[str] = Counter()
    misses: list[str] = []
    turns = asyncio.Semaphore(AT_ONCE)

    async def send(case: FramingCase) -> None:
        async with turns:
            got = await exchange(server.port, case.pieces)
        answered[str(got.statuses[-1]) if got.statuses else "closed"] += 1
        misses.extend(f"{case.name}: {wrong}, got {got}" for wrong in _wrong(case, got))

    await asyncio.gather(*[send(case) for case in cases(token)])
    largest = await exchange(server.port, [at_the_limit(token, "at the limit")])
    if largest.statuses != (200,):
        misses.append(f"a sound body of exactly 1 MiB: {largest}")
    return answered, misses


def _wrong(case: FramingCase, got: Exchange) -> list[str]:
    wrong = []
    silent = case.may_only_close and got.closed and not got.statuses
    if not silent and not (got.statuses and set(got.statuses) <= case.statuses):
        wrong.append(f"expected {sorted(case.statuses)}")
    if got.seconds > REFUSED_WITHIN_SECONDS:
        wrong.append(f"took {got.seconds:.1f} s")
    if case.must_close and (not got.closed or len(got.statuses) != 1):
        wrong.append("the connection stayed open")
    return wrong


def _beside_silent_connections(server: RealServer) -> list[str]:
    """An honest client must not wait until silent connections time out."""
    with ExitStack() as opened:
        for _ in range(SILENT_CONNECTIONS):
            silent = socket.create_connection(("127.0.0.1", server.port))
            opened.enter_context(silent)
            silent.sendall(b"GET /healthz HTTP/1.1\r\n")
        began = time.monotonic()
        answers = [httpx.get(f"{server.url}/healthz", timeout=60) for _ in range(4)]
        seconds = time.monotonic() - began
    if seconds > len(answers) * SECONDS_BESIDE_SILENT_MAX:
        return [f"4 requests beside {SILENT_CONNECTIONS} silent connections took {seconds:.1f} s"]
    return []


async def _under_slow_connections(server: RealServer, token: str, size: int) -> Under:
    idle = await asyncio.to_thread(
        lambda: finish_timing(start_timing(server.port, token, TIMED_SECONDS))
    )
    before = server.resident_bytes()
    timing = asyncio.create_task(
        asyncio.to_thread(
            lambda: finish_timing(start_timing(server.port, token, 2 * TIMED_SECONDS))
        )
    )
    met = await open_slow_connections(server, token, size, until=timing)
    return Under(met, idle, await timing, met.memory - before)


def _too_much(under: Under, times: float, least_p99: float) -> list[str]:
    misses = under.slow.misses(REFUSED_WITHIN_SECONDS)
    allowed = times * max(under.idle.p99, least_p99)
    if under.busy.p99 > allowed:
        misses.append(f"an honest client waited {under.busy.p99:.0f} ms, allowed {allowed:.0f}")
    if under.busy.failed:
        misses.append(f"{under.busy.failed} honest requests failed")
    if under.memory > MEMORY_MAX:
        misses.append(f"{under.memory / 2**20:.0f} MB more memory")
    return misses


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8_192)), hard))
