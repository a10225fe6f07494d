"""An object store that speaks the S3 protocol over HTTP on loopback, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3

from tests.cloud_process import cloud_process

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
    """Ended with the block."""
    with cloud_process(**CREDENTIALS) as url:
        client = boto3.client(
            "s3",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        yield ObjectStore(url.removeprefix("http://"), client)
        client.close()
