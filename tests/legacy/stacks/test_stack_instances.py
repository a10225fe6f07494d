"""The instances of a described stack, in the shape of EC2."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import msgspec

from nimbill.legacy.stacks.stack_instances import group_instances

ADDRESSES = {"PublicDnsName": "ec2.example", "PublicIpAddress": "192.0.2.7"}


def build_row(state: str = "running", flag: str = "web", **provision: Any) -> Any:
    return SimpleNamespace(
        instance_id="i-1",
        flag=flag,
        state=state,
        provision=json.dumps(provision),
        addresses=json.dumps(ADDRESSES),
    )


def group(flags: list[str], *rows: Any) -> Any:
    return msgspec.to_builtins(group_instances(flags, rows))


def test_a_running_instance_has_type_lifecycle_and_addresses() -> None:
    assert group(["web"], build_row(instance_type="t3.small", spot=True)) == {
        "web": [
            {
                "InstanceId": "i-1",
                "InstanceType": "t3.small",
                "InstanceLifecycle": "spot",
                **ADDRESSES,
                "State": {"Name": "running"},
            }
        ]
    }


def test_what_is_unknown_is_omitted() -> None:
    row = build_row(spot=False)
    row.addresses = None

    assert group(["web"], row) == {"web": [{"InstanceId": "i-1", "State": {"Name": "running"}}]}


def test_an_instance_that_is_not_running_shows_no_address() -> None:
    """A public address changes when the instance is stopped and started."""
    launching, terminating = build_row("launching"), build_row("terminating")

    assert group([], launching, terminating) == {
        "web": [
            {"InstanceId": "i-1", "State": {"Name": "pending"}},
            {"InstanceId": "i-1", "State": {"Name": "shutting-down"}},
        ]
    }


def test_every_layer_has_a_list_in_the_order_of_the_template() -> None:
    instances = group(["web", "db"], build_row(flag="removed"), build_row(flag="db"))

    assert {flag: len(found) for flag, found in instances.items()} == {
        "web": 0,
        "db": 1,
        "removed": 1,
    }
    assert list(instances) == ["web", "db", "removed"]
