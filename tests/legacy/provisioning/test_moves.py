"""How stacks move when things change or fail: nothing is lost, doubled or left behind."""

from __future__ import annotations

from tests.legacy.provisioning.cloud_server import CREDENTIAL, Cloud, tags_of
from tests.legacy.provisioning.life import Life, layer, template
from tests.legacy.templates.sound import GIT_KEY

NO_IMAGE = "ami-0000000000000000f"


def test_a_launch_that_is_refused_fails_the_layer_and_the_stack_and_says_why(
    life: Life, cloud: Cloud
) -> None:
    body = template(layer("web", instance_count=1), layer("db", image=NO_IMAGE))
    stack_id = life.apply(body)

    found = life.settled(stack_id)

    assert found["stack_status"] == "CREATE_FAILED"
    assert "there is no such image" in found["reason"]
    assert found["reason"].startswith("db: ")
    assert NO_IMAGE not in found["reason"]
    assert [(flag, status) for flag, (status, _) in life.items().items()] == [
        ("web", "completed"),
        ("db", "failed"),
    ]
    assert [tags_of(one)["nimbill:flag"] for one in cloud.instances(stack_id)] == ["web"]

    life.update(stack_id, template(layer("web", instance_count=1), layer("db")))
    assert life.status(stack_id) == "UPDATE_COMPLETE"
    assert len(cloud.instances(stack_id)) == 3
    assert life.stack(stack_id)["reason"] is None

    life.delete(stack_id)
    assert life.status(stack_id) == "DELETE_COMPLETE"
    assert cloud.instances(stack_id) == []


def test_a_failed_update_leaves_what_runs(life: Life, cloud: Cloud) -> None:
    stack_id = life.apply(template(layer("web")))
    assert life.status(stack_id) == "CREATE_COMPLETE"
    before = {one["InstanceId"] for one in cloud.instances(stack_id)}

    life.update(stack_id, template(layer("web", image=NO_IMAGE)))

    assert life.status(stack_id) == "UPDATE_FAILED"
    assert {one["InstanceId"] for one in cloud.instances(stack_id)} == before
    assert life.items()["web"] == ("failed", sorted(before, key=life.items()["web"][1].index))


def test_another_image_is_another_instance(life: Life, cloud: Cloud) -> None:
    stack_id = life.apply(template(layer("web")))
    life.settled(stack_id)
    before = cloud.instances(stack_id)
    other = next(
        one["ImageId"]
        for one in cloud.client.describe_images(Owners=["amazon"])["Images"]
        if one["ImageId"] != before[0]["ImageId"]
    )

    life.update(stack_id, template(layer("web", image=other, keypair=False)))

    assert life.status(stack_id) == "UPDATE_COMPLETE"
    after = cloud.instances(stack_id)
    assert {one["ImageId"] for one in after} == {other}
    assert len(after) == 2
    assert not {one["InstanceId"] for one in before} & {one["InstanceId"] for one in after}
    assert all("KeyName" not in one for one in after)


def test_the_newest_template_counts_however_quickly_they_come(life: Life, cloud: Cloud) -> None:
    stack_id = life.apply(template(layer("web", instance_count=12)))
    for count in (5, 3, 1):
        life.update(stack_id, template(layer("web", instance_count=count), layer("db")))

    assert life.status(stack_id) == "UPDATE_COMPLETE"
    flags = sorted(tags_of(one)["nimbill:flag"] for one in cloud.instances(stack_id))
    assert flags == ["db", "db", "web"]


def test_what_is_deleted_while_it_is_launched_leaves_nothing(life: Life, cloud: Cloud) -> None:
    stack_id = life.apply(template(layer("web", instance_count=12)))

    life.delete(stack_id)

    assert life.status(stack_id) == "DELETE_COMPLETE"
    assert cloud.instances(stack_id) == []


def test_one_that_somebody_ended_is_launched_again_by_the_next_update(
    life: Life, cloud: Cloud
) -> None:
    stack_id = life.apply(template(layer("web")))
    life.settled(stack_id)
    first, second = cloud.instances(stack_id)
    cloud.client.terminate_instances(InstanceIds=[first["InstanceId"]])

    life.update(stack_id, template(layer("web")))

    assert life.status(stack_id) == "UPDATE_COMPLETE"
    ids = [one["InstanceId"] for one in cloud.instances(stack_id)]
    assert len(ids) == 2
    assert second["InstanceId"] in ids


def protect(cloud: Cloud, instance_id: str, *, on: bool) -> None:
    cloud.client.modify_instance_attribute(
        InstanceId=instance_id, DisableApiTermination={"Value": on}
    )


def test_an_instance_that_cannot_be_ended_is_told_and_deleting_can_be_asked_again(
    life: Life, cloud: Cloud
) -> None:
    stack_id = life.apply(template(layer("web", instance_count=1)))
    life.settled(stack_id)
    (instance,) = cloud.instances(stack_id)
    protect(cloud, instance["InstanceId"], on=True)

    life.delete(stack_id)
    found = life.settled(stack_id)
    assert found["stack_status"] == "DELETE_FAILED"
    assert "the instance is protected against it" in found["reason"]
    assert found["auth_token"] != "***", "nothing is wiped before everything is gone"

    protect(cloud, instance["InstanceId"], on=False)
    life.delete(stack_id)
    assert life.status(stack_id) == "DELETE_COMPLETE"
    assert cloud.instances(stack_id) == []


def test_a_credential_of_another_form_fails_the_stack_and_is_never_told(life: Life) -> None:
    body = template(layer("web"))
    body["vendor"]["aws"]["cred"] = "canary-without-a-colon"

    found = life.settled(life.apply(body))

    assert found["stack_status"] == "CREATE_FAILED"
    assert "the credential is not of the form key id:secret" in found["reason"]
    assert "canary" not in str(found)


def test_nothing_secret_is_in_the_log(life: Life) -> None:
    stack_id = life.apply(template(layer("web", image=NO_IMAGE)))
    token = life.settled(stack_id)["auth_token"]
    log = life.server.log.read_text()

    assert stack_id, "the log is there"
    for secret in (CREDENTIAL, CREDENTIAL.partition(":")[2], GIT_KEY, "git-canary-93ab", token):
        assert secret not in log
