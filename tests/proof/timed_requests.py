"""Measures how long an honest client waits, in a separate process.

Usage: python -m tests.proof.timed_requests <port> <token> <seconds> <pause>; prints a JSON object.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from dataclasses import dataclass

from tests.proof.real_server import ROOT

PATH = "/m/core/billinggroup"
GIVE_UP_SECONDS = 20


@dataclass(frozen=True, slots=True)
class WaitTimes:
    requests: int
    failed: int
    p50: float  # milliseconds
    p99: float


def start_timing(port: int, token: str, seconds: float, pause: float = 0) -> subprocess.Popen[str]:
    """`pause` is the time between two requests."""
    arguments = [str(port), token, str(seconds), str(pause)]
    line = [sys.executable, "-m", "tests.proof.timed_requests", *arguments]
    return subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def finish_timing(process: subprocess.Popen[str]) -> WaitTimes:
    output, _ = process.communicate(timeout=120)
    return WaitTimes(**json.loads(output))


def time_requests(port: int, token: str, seconds: float, pause: float) -> WaitTimes:
    """Sequential requests, half on one connection, half on a new connection each."""
    milliseconds, failed = [], 0
    until = time.monotonic() + seconds
    persistent = http.client.HTTPConnection("127.0.0.1", port, timeout=GIVE_UP_SECONDS)
    while time.monotonic() < until:
        for connection in (persistent, None):
            began = time.perf_counter()
            failed += not _request_succeeds(connection or _connect(port), token)
            milliseconds.append((time.perf_counter() - began) * 1000)
            time.sleep(pause)
    milliseconds.sort()
    count = len(milliseconds)
    return WaitTimes(
        count, failed, milliseconds[count // 2], milliseconds[min(count - 1, count * 99 // 100)]
    )


def _connect(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=GIVE_UP_SECONDS)


def _request_succeeds(connection: http.client.HTTPConnection, token: str) -> bool:
    try:
        connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        connection.close()
        return False
    return answer.status == 200


if __name__ == "__main__":
    waited = time_requests(int(sys.argv[1]), sys.argv[2], *map(float, sys.argv[3:]))
    print(json.dumps({name: getattr(waited, name) for name in WaitTimes.__slots__}))
