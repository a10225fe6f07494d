"""A cloud's protocols over HTTP on loopback, spoken by a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.proof.real_server import free_port

SECONDS_TO_START = 60


@contextmanager
def cloud_process(**environment: str) -> Iterator[str]:
    """Its address; started on a free port, ended with the block."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/moto-api/", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        assert server.poll() is None, "the cloud ended at once"
        try:
            httpx.get(url, timeout=2)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the cloud did not start")
