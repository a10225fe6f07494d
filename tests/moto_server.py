"""A moto server in its own process: the AWS protocols over HTTP on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.proof.real_server import free_port

START_SECONDS_MAX = 180


@contextmanager
def moto_server(**environment: str) -> Iterator[str]:
    """Start the server on a free port and yield its address."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        _wait_for_response(f"http://127.0.0.1:{port}/moto-api/", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait_for_response(url: str, server: subprocess.Popen[bytes]) -> None:
    """Use one client, because a new one reads all certificates of the system."""
    deadline = time.monotonic() + START_SECONDS_MAX
    with httpx.Client(timeout=2) as http:
        while time.monotonic() < deadline:
            assert server.poll() is None, "the moto server exited"
            try:
                http.get(url)
            except httpx.TransportError:
                time.sleep(0.1)
            else:
                return
    raise AssertionError("the moto server did not start")
