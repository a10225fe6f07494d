"""The instances of a stack by layer, in the shape of EC2 that published clients read."""

import json
from collections.abc import Iterable, Mapping

from msgspec import UNSET

from nimbill.database.tenant_scope import Row
from nimbill.legacy.stacks.bodies import Ec2State, StackInstance

ADDRESS_FIELDS = ("PublicDnsName", "PublicIpAddress", "PrivateIpAddress")

# the words of EC2 for the states of stored instances
STATE_NAMES: Mapping[str, str] = {
    "launching": "pending",
    "running": "running",
    "terminating": "shutting-down",
}


def group_instances(
    flags: Iterable[str], instances: Iterable[Row]
) -> dict[str, list[StackInstance]]:
    """Every layer has a list; a removed layer has one as long as it has instances."""
    by_flag: dict[str, list[StackInstance]] = {flag: [] for flag in flags}
    for instance in instances:
        by_flag.setdefault(instance.flag, []).append(_to_body(instance))
    return by_flag


def _to_body(instance: Row) -> StackInstance:
    provision = json.loads(instance.provision)
    # a public address changes when an instance is stopped and started
    is_running = instance.state == "running"
    addresses = json.loads(instance.addresses) if instance.addresses and is_running else {}
    return StackInstance(
        InstanceId=instance.instance_id,
        InstanceType=provision.get("instance_type", UNSET),
        InstanceLifecycle="spot" if provision.get("spot") else UNSET,
        **{name: addresses.get(name, UNSET) for name in ADDRESS_FIELDS},
        State=Ec2State(Name=STATE_NAMES[instance.state]),
    )
