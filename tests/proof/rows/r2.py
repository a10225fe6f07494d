"""Bodies, headers and connections that are too large, too slow or ambiguous are refused.

Against a real server: every case of malformed_framing.py, imports over 256 MiB, and many
connections that send a byte now and then, in head or body, beside some that read a large file
slowly or not at all. The process of the slow connections has a low priority because it represents
other computers. The server's own header timeout closes connections without a response; everything
else is answered. Only the full size asserts times: a smaller one runs beside other tests, and asks
that every connection ends at all.
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

from tests.plain_http import NO_TLS
from tests.proof.broken_variants import BrokenVariant
from tests.proof.large_uploads import BYTES_MAX, announce_upload, send_upload_in_chunks
from tests.proof.malformed_framing import FramingCase, at_the_limit, cases
from tests.proof.raw_http import Exchange, exchange
from tests.proof.real_server import RealServer, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.slow_connections import SlowConnectionProcess, SlowConnections
from tests.proof.slow_readers import SlowReaders, begin_downloads, export_large_file
from tests.proof.timed_requests import WaitTimes, finish_timing, start_timing

TARGET = (
    "413, 431 or 408 within 10 s, nothing smuggled, nothing kept of an import over 256 MiB; under "
    "1,000 slow connections and slow readers an honest client's p99 is at most twice that of an "
    "idle server, memory at most 128 MB more"
)
QUICK = 50  # slow connections
FULL = 1_000
SECONDS_MAX = 600

REFUSED_WITHIN_SECONDS = 10.0  # in full size
SILENT_CONNECTIONS = 1_200
SECONDS_BESIDE_SILENT_MAX = 2.0  # of four; silent connections end after eight seconds
AT_ONCE = 8
SLOW_READERS, SLOW_READERS_QUICK = 40, 16
MEMORY_MAX = 128 * 2**20
TIMED_SECONDS = 6.0
PAUSE_SECONDS = 0.05  # of the honest client below the full size, which alone compares its times
DOCUMENT_REQUESTS = 24  # enough to reach every worker
# allowed slowdown of an honest client, in full size
TIMES_MAX = 2.0


@dataclass(frozen=True)
class SlowConnectionEffect:
    """Effect of slow connections on the server and on an honest client."""

    slow: SlowConnections
    readers: SlowReaders
    idle: WaitTimes
    busy: WaitTimes
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
    file_path = export_large_file(environment)
    with real_server(environment.new_folder("r2") / "data", settings) as server:
        answered, misses = asyncio.run(_send_cases(server, token, size))
        misses += _beside_silent_connections(server)
        misses += asyncio.run(_send_large_uploads(server, token))
        effect = asyncio.run(_measure_slow_connections(server, token, file_path, size))
        if server.process.poll() is not None:
            misses.append("the server ended")
    misses += _find_excess(effect)
    if size >= FULL:
        misses += _find_long_waits(effect)
    return Measurement(_format_figures(answered, effect, size), misses)


def _format_figures(answered: Counter[str], effect: SlowConnectionEffect, size: int) -> str:
    how = ", ".join(f"{count} × {what}" for what, count in answered.most_common())
    return (
        f"{sum(answered.values())} malformed requests: {how}; {size} trickling connections: "
        f"{effect.slow.format()}; {effect.readers.begun} slow readers; "
        f"honest p99 {effect.idle.p99:.1f} ms idle, "
        f"{effect.busy.p99:.1f} ms with them ({effect.busy.requests} requests, "
        f"{effect.busy.failed} failed); memory {effect.memory / 2**20:+.0f} MB"
    )


async def _send_cases(server: RealServer, token: str, size: int) -> tuple[Counter[str], list[str]]:
    answered: Counter[str] = Counter()
    misses: list[str] = []
    parallel_limit = asyncio.Semaphore(AT_ONCE)

    async def send(case: FramingCase) -> None:
        async with parallel_limit:
            response = await exchange(server.port, case.pieces)
        answered[str(response.statuses[-1]) if response.statuses else "closed"] += 1
        wrong = _find_faults(case, response)
        if size >= FULL and response.seconds > REFUSED_WITHIN_SECONDS:
            wrong.append(f"took {response.seconds:.1f} s")
        misses.extend(f"{case.name}: {fault}, got {response}" for fault in wrong)

    await asyncio.gather(*[send(case) for case in cases(token)])
    largest = await exchange(server.port, [at_the_limit(token, "at the limit")])
    if largest.statuses != (200,):
        misses.append(f"a valid body of exactly 1 MiB: {largest}")
    return answered, misses


def _find_faults(case: FramingCase, response: Exchange) -> list[str]:
    wrong = []
    silent = case.may_only_close and response.closed and not response.statuses
    if not silent and not (response.statuses and set(response.statuses) <= case.statuses):
        wrong.append(f"expected {sorted(case.statuses)}")
    if case.must_close and (not response.closed or len(response.statuses) != 1):
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
        answers = [httpx.get(f"{server.url}/healthz", timeout=60, verify=NO_TLS) for _ in range(4)]
        seconds = time.monotonic() - began
    if seconds > len(answers) * SECONDS_BESIDE_SILENT_MAX:
        return [f"4 requests beside {SILENT_CONNECTIONS} silent connections took {seconds:.1f} s"]
    return []


async def _send_large_uploads(server: RealServer, token: str) -> list[str]:
    misses = []
    for length in (BYTES_MAX + 1, 2**40):
        announced = await announce_upload(server, token, length)
        name = f"an import that announces {length} bytes"
        misses += announced.find_faults(name, at_once=True, memory_max=MEMORY_MAX)
    chunked = await send_upload_in_chunks(server, token)
    name = "an import over 256 MiB in chunks"
    return misses + chunked.find_faults(name, at_once=False, memory_max=MEMORY_MAX)


async def _measure_slow_connections(
    server: RealServer, token: str, file_path: str, size: int
) -> SlowConnectionEffect:
    await _build_documents(server)
    pause = 0 if size >= FULL else PAUSE_SECONDS
    idle = await asyncio.to_thread(
        lambda: finish_timing(start_timing(server.port, token, TIMED_SECONDS, pause))
    )
    before = server.resident_bytes()
    reader_count = SLOW_READERS if size >= FULL else SLOW_READERS_QUICK
    readers = await begin_downloads(server, file_path, reader_count)
    connections = await asyncio.to_thread(SlowConnectionProcess, server, token, size)
    timing = asyncio.create_task(
        asyncio.to_thread(
            lambda: finish_timing(start_timing(server.port, token, 2 * TIMED_SECONDS, pause))
        )
    )
    memory, _ = await asyncio.gather(
        connections.watch_memory(until=timing), readers.read_on(until=timing)
    )
    slow = await asyncio.to_thread(connections.end)
    return SlowConnectionEffect(slow, readers, idle, await timing, memory - before)


async def _build_documents(server: RealServer) -> None:
    """Each worker builds the OpenAPI document once, whoever asks first."""
    async with httpx.AsyncClient(timeout=60) as client:
        for _ in range(DOCUMENT_REQUESTS):
            url, headers = f"{server.url}/openapi.json", {"Connection": "close"}
            (await client.get(url, headers=headers)).raise_for_status()


def _find_long_waits(effect: SlowConnectionEffect) -> list[str]:
    misses = effect.slow.find_late_ends(REFUSED_WITHIN_SECONDS)
    allowed = TIMES_MAX * effect.idle.p99
    if effect.busy.p99 > allowed:
        misses.append(f"an honest client waited {effect.busy.p99:.0f} ms, allowed {allowed:.0f}")
    return misses


def _find_excess(effect: SlowConnectionEffect) -> list[str]:
    misses = effect.slow.find_kept_open()
    if effect.readers.closed or not effect.readers.begun:
        misses.append(
            f"of {effect.readers.begun} slow readers, {effect.readers.closed} were cut off"
        )
    if effect.busy.failed:
        misses.append(f"{effect.busy.failed} honest requests failed")
    if effect.memory > MEMORY_MAX:
        misses.append(f"{effect.memory / 2**20:.0f} MB more memory")
    return misses


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8_192)), hard))


VARIANTS = [
    BrokenVariant(
        "body-kept-for-slow-reader",
        "A large body stays in memory as long as its client reads.",
        "MB more memory",
        "application/large_bodies.py",
        "is_patient, sent = True, 0",
        "sent = 0",
        also=[
            (
                "application/large_bodies.py",
                "if is_patient and not await _finishes_soon(sending):",
                "if False:",
            )
        ],
    ),
    BrokenVariant(
        "few-connections",
        "A worker accepts only the server's default number of connections.",
        "silent connections took",
        "application/server.py",
        """\
        backlog=WAITING_CONNECTIONS_MAX,
        backpressure=CONNECTIONS_PER_WORKER_MAX,
""",
        "",
    ),
    BrokenVariant(
        "long-header-deadline",
        "The headers may take ten times as long to arrive.",
        "incomplete headers",
        "application/server.py",
        "HEADER_MILLISECONDS = 8_000",
        "HEADER_MILLISECONDS = 80_000",
    ),
    BrokenVariant(
        "no-body-deadline",
        "A body may take any time to arrive.",
        "a body that is not sent",
        "application/middleware.py",
        "deadline = time.monotonic() + self._body_seconds",
        "deadline = time.monotonic() + 3_600",
    ),
    BrokenVariant(
        "no-body-limit",
        "A JSON body may have any size.",
        "JSON over 1 MiB",
        "application/app.py",
        "request_max_body_size=JSON_BYTES_MAX,",
        "request_max_body_size=None,",
    ),
    BrokenVariant(
        "no-import-limit",
        "An import may have any size.",
        "an import over 256 MiB in chunks",
        "access/uploads.py",
        "if announced_bytes > UPLOAD_BYTES_MAX:",
        "if False:",
        also=[
            ("access/uploads.py", "if size > UPLOAD_BYTES_MAX:", "if False:"),
            (
                "imports/routes.py",
                "request_max_body_size=UPLOAD_BYTES_MAX + 65_536,",
                "request_max_body_size=None,",
            ),
        ],
    ),
]
