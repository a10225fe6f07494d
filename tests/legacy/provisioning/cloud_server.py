"""A cloud that speaks EC2's protocol over HTTP on loopback, in a process of its own."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3

from tests.moto_server import moto_server

REGION = "eu-west-1"
CREDENTIAL = "AKIAEXAMPLE:secret-canary-5b20"
ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")


@dataclass(frozen=True, slots=True)
class Cloud:
    url: str
    client: Any  # boto3's, which has no types

    def instances(self, stack_id: str, *states: str) -> list[Any]:
        """Those that carry the name of the stack; without states those that are not gone."""
        filters = [
            {"Name": "tag:nimbill:stack", "Values": [stack_id]},
            {"Name": "instance-state-name", "Values": list(states or ALIVE)},
        ]
        found = self.client.describe_instances(Filters=filters)["Reservations"]
        return [one for reservation in found for one in reservation["Instances"]]

    def user_data(self, instance_id: str) -> str:
        asked = self.client.describe_instance_attribute(
            InstanceId=instance_id, Attribute="userData"
        )
        return base64.b64decode(asked["UserData"]["Value"]).decode()

    def key_pairs(self) -> list[str]:
        return [one["KeyName"] for one in self.client.describe_key_pairs()["KeyPairs"]]


@contextmanager
def cloud_server() -> Iterator[Cloud]:
    """Ended with the block."""
    with moto_server(MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION="true") as url:
        key_id, secret = CREDENTIAL.split(":")
        client = boto3.client(
            "ec2",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
        )
        yield Cloud(url, client)
        client.close()


def read_tags(instance: Any) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in instance["Tags"]}
