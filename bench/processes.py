"""Processes the benchmarks start: servers on free ports and the one that makes the load."""

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

from bench.load import Measured, Plan

START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 20


class Server(NamedTuple):
    port: int
    process: subprocess.Popen[bytes]


class RefusedError(Exception):
    """A server refused what it was asked, so that there is nothing to measure."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def server(command: list[str], environment: Mapping[str, str], log: Path) -> Iterator[Server]:
    """Python with these arguments and `--port`, until the block is left; it writes into `log`."""
    port = free_port()
    with log.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, *command, "--port", str(port)],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    try:
        _wait_until_it_listens(process, port, log)
        yield Server(port, process)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text()[-4000:]}")


class Load:
    """The load process; it does one plan at a time."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def put_on(self, plan: Plan) -> Measured:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(plan) + b"\n")
        self._process.stdin.flush()
        measured = msgspec.json.decode(self._process.stdout.readline(), type=Measured)
        if measured.refusal is not None:
            raise RefusedError(f"{plan.method} {plan.path}: {measured.refusal}")
        return measured


@contextmanager
def load_process() -> Iterator[Load]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield Load(process)
    finally:
        process.kill()
        process.communicate()
