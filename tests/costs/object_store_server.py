"""An object store for tests: an S3 server on localhost in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3

from tests.moto_server import moto_server

# the server accepts any; without them a client would search for credentials elsewhere
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@dataclass(frozen=True, slots=True)
class ObjectStore:
    endpoint: str  # host:port
    client: Any  # boto3 has no types

    def address(self, key: str) -> str:
        """Includes endpoint, scheme and region of this server."""
        return f"s3://{key}?endpoint_override={self.endpoint}&scheme=http&region=us-east-1"

    def bucket(self, name: str) -> str:
        self.client.create_bucket(Bucket=name)
        return name

    def put(self, bucket: str, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=bucket, Key=key, Body=content)


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    with moto_server(**CREDENTIALS) as url:
        client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        yield ObjectStore(url.removeprefix("http://"), client)
        client.close()
