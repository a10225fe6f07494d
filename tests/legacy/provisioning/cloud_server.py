"""A simulated EC2 (moto) over HTTP on loopback, in a process of its own."""

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
EXISTING_STATES = ("pending", "running", "stopping", "stopped", "shutting-down")


@dataclass(frozen=True, slots=True)
class Cloud:
    url: str
    client: Any  # of boto3, which has no types

    def instances(self, stack_id: str, *states: str) -> list[Any]:
        """Instances with the tag of the stack; by default those that are not terminated."""
        filters = [
            {"Name": "tag:nimbill:stack", "Values": [stack_id]},
            {"Name": "instance-state-name", "Values": list(states or EXISTING_STATES)},
        ]
        reservations = self.client.describe_instances(Filters=filters)["Reservations"]
        return [instance for reservation in reservations for instance in reservation["Instances"]]

    def user_data(self, instance_id: str) -> str:
        attribute = self.client.describe_instance_attribute(
            InstanceId=instance_id, Attribute="userData"
        )
        return base64.b64decode(attribute["UserData"]["Value"]).decode()

    def key_pairs(self) -> list[str]:
        return [pair["KeyName"] for pair in self.client.describe_key_pairs()["KeyPairs"]]


@contextmanager
def cloud_server() -> Iterator[Cloud]:
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
    return {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
