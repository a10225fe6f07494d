"""Starts the processes of a benchmark: servers on free ports, and the load generator."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.load import LoadPlan, LoadResult
from bench.rounds import MeasurementFailed

START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 20


class BenchServer(NamedTuple):
    port: int
    process: subprocess.Popen[bytes]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def start_server(
    command: list[str], environment: Mapping[str, str], log: Path
) -> Iterator[BenchServer]:
    """Run Python with these arguments and `--port` until the block ends; output goes to `log`."""
    port = free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command, "--port", str(port)],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        _wait_until_listening(process, port, log)
        yield BenchServer(port, process)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_listening(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text()[-4000:]}")


class LoadGenerator:
    """The load generator; it runs one plan at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def run(self, plan: LoadPlan) -> LoadResult:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(plan) + b"\n")
        self._process.stdin.flush()
        result = msgspec.json.decode(self._process.stdout.readline(), type=LoadResult)
        if result.failure is not None:
            raise MeasurementFailed(f"{plan.method} {plan.path}: {result.failure}")
        return result


@contextmanager
def start_load_generator() -> Iterator[LoadGenerator]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield LoadGenerator(process)
    finally:
        process.kill()
        process.communicate()
