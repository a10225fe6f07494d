"""An object store that speaks the S3 protocol over HTTP on loopback, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
import httpx

SECONDS_TO_START = 60
# the server takes any; without them a client would look for some elsewhere
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True, slots=True)
class ObjectStore:
    endpoint: str  # host:port
    client: Any  # boto3's, which has no types

    def address(self, key: str) -> str:
        """With all that is needed to find this store and no other."""
        return f"s3://{key}?endpoint_override={self.endpoint}&scheme=http&region=us-east-1"

    def bucket(self, name: str) -> str:
        self.client.create_bucket(Bucket=name)
        return name

    def put(self, bucket: str, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=bucket, Key=key, Body=content)


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Started on a free port, ended with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **CREDENTIALS},
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/moto-api/", server)
        client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{port}",
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        yield ObjectStore(f"127.0.0.1:{port}", client)
        client.close()
    finally:
        server.terminate()
        server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until:
        assert server.poll() is None, "the object store ended at once"
        try:
            httpx.get(url, timeout=2)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the object store did not start")
