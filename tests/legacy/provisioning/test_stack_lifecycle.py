"""The life of a stack: applied, reported by its agents, updated, replaced and deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nimbill.commands.agent import agent
from tests.legacy.provisioning.cloud_server import Cloud, read_tags
from tests.legacy.provisioning.stack_user import (
    StackUser,
    build_layer,
    build_stack_template,
    write_agent_config,
)

SHOWN_FIELDS = (
    "InstanceId",
    "InstanceType",
    "PublicDnsName",
    "PublicIpAddress",
    "PrivateIpAddress",
)


def assert_instances_are_shown(shown: dict[str, Any], created: list[Any]) -> None:
    assert {flag: len(instances) for flag, instances in shown.items()} == {"web": 2, "db": 1}
    assert shown["db"] == [
        {**{name: each[name] for name in SHOWN_FIELDS}, "State": {"Name": "running"}}
        for each in created
        if read_tags(each)["nimbill:flag"] == "db"
    ]


def list_types(cloud: Cloud, stack_id: str) -> list[str]:
    return sorted(instance["InstanceType"] for instance in cloud.instances(stack_id))


def list_ids(cloud: Cloud, stack_id: str) -> set[str]:
    return {instance["InstanceId"] for instance in cloud.instances(stack_id)}


def report_agent_status(user: StackUser, stack_id: str, **report: str) -> dict[str, Any]:
    response = user.call(
        "POST",
        "/v3/alm/agent/agent_status",
        json={"stack_id": stack_id, **report},
        headers=user.agent_headers(stack_id),
    )
    assert response.status_code == 202, response.text
    stored: dict[str, Any] = response.json()
    return stored


# Six passes through the simulated EC2, each with several HTTP requests, take more than 5 s.
def test_a_stack_in_the_cloud_is_created_updated_repaired_and_deleted(
    cloud_user: StackUser, cloud: Cloud, tmp_path: Path
) -> None:
    user = cloud_user
    database_layer = build_layer("db", container=False, instance_count=1)

    stack_id = user.apply(build_stack_template(build_layer("web"), database_layer))

    assert user.wait_for_status(stack_id) == "CREATE_COMPLETE"
    created = cloud.instances(stack_id)
    assert list_types(cloud, stack_id) == ["t3.small"] * 3
    assert sorted(read_tags(each)["nimbill:flag"] for each in created) == ["db", "web", "web"]
    assert {each["KeyName"] for each in created} == {f"nimbill-{stack_id}"}
    layers = user.read_layers()
    assert {flag: (status, len(ids)) for flag, (status, ids) in layers.items()} == {
        "web": ("completed", 2),
        "db": ("completed", 1),
    }

    assert_instances_are_shown(user.read_stack(stack_id)["instances"], created)

    # The agent of an instance starts with the configuration that cloud-init has written.
    web_id = next(
        each["InstanceId"] for each in created if read_tags(each)["nimbill:flag"] == "web"
    )
    config = write_agent_config(cloud.user_data(web_id), tmp_path)
    agent(config=config, instance_id=web_id, metadata_address="", once=True)
    assert user.read_containers(stack_id) == {web_id: "running"}

    # An update to another type keeps the instances.
    large_layer = build_layer("web", instance_count=3, instance_type="t3.large")
    user.update(stack_id, build_stack_template(large_layer))
    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    assert list_types(cloud, stack_id) == ["t3.large"] * 3
    updated = list_ids(cloud, stack_id)
    assert web_id in updated
    assert list(user.read_layers()) == ["web"]
    assert user.read_containers(stack_id) == {web_id: "complete"}

    # A termination notice replaces the instance.
    notice = {"agent_id": web_id, "instance_id": web_id, "status": "spot_terminate"}
    report_agent_status(user, stack_id, **notice)
    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    repaired = list_ids(cloud, stack_id)
    assert len(repaired) == 3
    assert updated - repaired == {web_id}

    # A deletion leaves nothing in the cloud, and no token.
    user.delete(stack_id)
    deleted = user.wait_for_stack(stack_id)
    assert (deleted["stack_status"], deleted["auth_token"]) == ("DELETE_COMPLETE", "***")
    assert cloud.instances(stack_id) == []
    assert f"nimbill-{stack_id}" not in cloud.key_pairs()
    assert user.read_layers() == {}


def test_a_simulated_stack_is_created_updated_repaired_and_deleted(local_user: StackUser) -> None:
    user = local_user
    database_layer = build_layer("db", container=False, instance_count=1)

    stack_id = user.apply(build_stack_template(build_layer("web"), database_layer))

    assert user.wait_for_status(stack_id) == "CREATE_COMPLETE"
    status, created = user.read_layers()["web"]
    assert (status, len(created)) == ("completed", 2)
    assert user.read_containers(stack_id) == dict.fromkeys(created, "complete")

    large_layer = build_layer("web", instance_count=3, instance_type="t3.large")
    user.update(stack_id, build_stack_template(large_layer))
    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    updated = user.read_layers()["web"][1]
    assert set(created) < set(updated)
    assert len(updated) == 3
    assert user.read_containers(stack_id) == dict.fromkeys(updated, "complete")

    first = updated[0]
    notice = {"agent_id": first, "instance_id": first, "status": "spot_terminate"}
    assert report_agent_status(user, stack_id, **notice)["status"] == "spot_terminate"
    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    repaired = user.read_layers()["web"][1]
    assert set(updated) - set(repaired) == {first}
    assert len(repaired) == 3
    assert user.read_containers(stack_id)[first] == "terminated"

    user.delete(stack_id)
    assert user.wait_for_status(stack_id) == "DELETE_COMPLETE"
    assert user.read_layers() == {}
