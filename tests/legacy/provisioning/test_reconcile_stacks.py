"""Stacks in the cloud whose templates change or fail: no instance is lost, doubled or left."""

from __future__ import annotations

import pytest

from tests.legacy.provisioning.cloud_server import CREDENTIAL, Cloud, read_tags
from tests.legacy.provisioning.stack_user import StackUser, build_layer, build_stack_template
from tests.legacy.templates.template_requests import GIT_KEY

UNKNOWN_IMAGE = "ami-0000000000000000f"


def list_ids(cloud: Cloud, stack_id: str) -> set[str]:
    return {instance["InstanceId"] for instance in cloud.instances(stack_id)}


def list_flags(cloud: Cloud, stack_id: str) -> list[str]:
    return sorted(read_tags(each)["nimbill:flag"] for each in cloud.instances(stack_id))


def test_a_rejected_launch_fails_the_layer_and_the_stack_with_a_reason(
    cloud_user: StackUser, cloud: Cloud
) -> None:
    user, web_layer = cloud_user, build_layer("web", instance_count=1)

    stack_id = user.apply(build_stack_template(web_layer, build_layer("db", image=UNKNOWN_IMAGE)))
    failed = user.wait_for_stack(stack_id)

    assert failed["stack_status"] == "CREATE_FAILED"
    assert "there is no such image" in failed["reason"]
    assert failed["reason"].startswith("db: ")
    assert UNKNOWN_IMAGE not in failed["reason"]
    assert [(flag, status) for flag, (status, _) in user.read_layers().items()] == [
        ("web", "completed"),
        ("db", "failed"),
    ]
    assert list_flags(cloud, stack_id) == ["web"]

    user.update(stack_id, build_stack_template(web_layer, build_layer("db")))
    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    assert len(cloud.instances(stack_id)) == 3
    assert user.read_stack(stack_id)["reason"] is None

    user.delete(stack_id)
    assert user.wait_for_status(stack_id) == "DELETE_COMPLETE"
    assert cloud.instances(stack_id) == []


def test_a_failed_update_keeps_the_running_instances(cloud_user: StackUser, cloud: Cloud) -> None:
    user = cloud_user
    stack_id = user.apply(build_stack_template(build_layer("web")))
    assert user.wait_for_status(stack_id) == "CREATE_COMPLETE"
    before = list_ids(cloud, stack_id)

    user.update(stack_id, build_stack_template(build_layer("web", image=UNKNOWN_IMAGE)))

    assert user.wait_for_status(stack_id) == "UPDATE_FAILED"
    assert list_ids(cloud, stack_id) == before
    status, instance_ids = user.read_layers()["web"]
    assert (status, set(instance_ids)) == ("failed", before)
    assert len(instance_ids) == len(before)


# The list of all images of the simulated EC2 is large: parsing it takes more than 5 s.
def test_another_image_replaces_the_instances(cloud_user: StackUser, cloud: Cloud) -> None:
    user = cloud_user
    stack_id = user.apply(build_stack_template(build_layer("web")))
    user.wait_for_stack(stack_id)
    before = cloud.instances(stack_id)
    other_image = next(
        image["ImageId"]
        for image in cloud.client.describe_images(Owners=["amazon"])["Images"]
        if image["ImageId"] != before[0]["ImageId"]
    )

    layer = build_layer("web", image=other_image, keypair=False)
    user.update(stack_id, build_stack_template(layer))

    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    after = cloud.instances(stack_id)
    assert {instance["ImageId"] for instance in after} == {other_image}
    assert len(after) == 2
    assert not {each["InstanceId"] for each in before} & list_ids(cloud, stack_id)
    assert all("KeyName" not in instance for instance in after)


def test_the_newest_of_several_quick_updates_applies(cloud_user: StackUser, cloud: Cloud) -> None:
    user = cloud_user
    stack_id = user.apply(build_stack_template(build_layer("web", instance_count=12)))
    for count in (5, 3, 1):
        layers = build_layer("web", instance_count=count), build_layer("db")
        user.update(stack_id, build_stack_template(*layers))

    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    assert list_flags(cloud, stack_id) == ["db", "db", "web"]


def test_a_deletion_during_the_launch_leaves_no_instance(
    cloud_user: StackUser, cloud: Cloud
) -> None:
    user = cloud_user
    stack_id = user.apply(build_stack_template(build_layer("web", instance_count=12)))

    user.delete(stack_id)

    assert user.wait_for_status(stack_id) == "DELETE_COMPLETE"
    assert cloud.instances(stack_id) == []


def test_the_next_update_replaces_an_instance_that_was_terminated_elsewhere(
    cloud_user: StackUser, cloud: Cloud
) -> None:
    user = cloud_user
    stack_id = user.apply(build_stack_template(build_layer("web")))
    user.wait_for_stack(stack_id)
    first, second = cloud.instances(stack_id)
    cloud.client.terminate_instances(InstanceIds=[first["InstanceId"]])

    user.update(stack_id, build_stack_template(build_layer("web")))

    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    ids = list_ids(cloud, stack_id)
    assert len(ids) == 2
    assert second["InstanceId"] in ids


def set_termination_protection(cloud: Cloud, instance_id: str, *, enabled: bool) -> None:
    cloud.client.modify_instance_attribute(
        InstanceId=instance_id, DisableApiTermination={"Value": enabled}
    )


def test_a_protected_instance_fails_the_deletion_which_can_be_repeated(
    cloud_user: StackUser, cloud: Cloud
) -> None:
    user = cloud_user
    stack_id = user.apply(build_stack_template(build_layer("web", instance_count=1)))
    user.wait_for_stack(stack_id)
    (instance,) = cloud.instances(stack_id)
    set_termination_protection(cloud, instance["InstanceId"], enabled=True)

    user.delete(stack_id)
    failed = user.wait_for_stack(stack_id)

    assert failed["stack_status"] == "DELETE_FAILED"
    assert "the instance is protected against it" in failed["reason"]
    assert failed["auth_token"] != "***", "secrets must be kept until everything is deleted"

    set_termination_protection(cloud, instance["InstanceId"], enabled=False)
    user.delete(stack_id)
    assert user.wait_for_status(stack_id) == "DELETE_COMPLETE"
    assert cloud.instances(stack_id) == []


def test_a_malformed_credential_fails_the_stack_and_is_not_repeated(
    cloud_user: StackUser,
) -> None:
    template = build_stack_template(build_layer("web"))
    template["vendor"]["aws"]["cred"] = "canary-without-a-colon"

    failed = cloud_user.wait_for_stack(cloud_user.apply(template))

    assert failed["stack_status"] == "CREATE_FAILED"
    assert "the credential is not of the form key id:secret" in failed["reason"]
    assert "canary" not in str(failed)


def test_the_log_contains_no_secrets(
    cloud_user: StackUser, capsys: pytest.CaptureFixture[str]
) -> None:
    template = build_stack_template(build_layer("web", image=UNKNOWN_IMAGE))

    stack_id = cloud_user.apply(template)
    token = cloud_user.wait_for_stack(stack_id)["auth_token"]
    log = "".join(capsys.readouterr())

    assert "/v3/alm/template" in log
    for secret in (CREDENTIAL, CREDENTIAL.partition(":")[2], GIT_KEY, "git-canary-93ab", token):
        assert secret not in log
