"""Instances at AWS, against a cloud over HTTP: launched once, changed in place, ended."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, NoRegionError, ReadTimeoutError

from nimbill.foundation.ids import new_id
from nimbill.legacy.provisioning.aws_errors import translate_error
from nimbill.legacy.provisioning.aws_provisioner import AwsProvisioner, parse_credentials
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.provisioning.provisioner import (
    Instance,
    LaunchContext,
    ObservedState,
    PermanentError,
    TransientError,
)
from tests.legacy.provisioning.cloud_server import CREDENTIAL, REGION, Cloud, read_tags

PROVISION: dict[str, Any] = {
    "image": "${computed}",
    "volume_type": "${computed}",
    "instance_type": "t3.small",
    "keypair": False,
    "spot": False,
}
TOKEN = "token-canary-19ce"


def order(**changes: str) -> LaunchContext:
    made = LaunchContext("org", new_id("stk"), "quiet-river", REGION, "http://x", TOKEN, CREDENTIAL)
    return replace(made, **changes)


class Launched:
    """One instance of a stack of its own."""

    def __init__(self, cloud: Cloud, **provision: Any) -> None:
        self.order = order()
        self.provisioner = AwsProvisioner(self.order, cloud.url)
        asked = PROVISION | provision
        filled = asked | self.provisioner.compute_values(asked)
        self.machine = Instance(new_id("ins"), "web", 0, filled, InstanceState.pending, None)
        launched = self.provisioner.launch(self.machine)
        self.machine = replace(self.machine, instance_id=launched, state=InstanceState.launching)

    def look(self, machine: Instance | None = None) -> ObservedState:
        one = machine or self.machine
        return self.provisioner.update_instances([one])[one.instance_key].state


def test_what_is_launched_is_tagged_and_knows_its_stack(cloud: Cloud) -> None:
    launched = Launched(cloud)

    (found,) = cloud.instances(launched.order.stack_id)
    assert found["InstanceId"] == launched.machine.instance_id
    assert found["ImageId"].startswith("ami-")
    assert "KeyName" not in found
    assert read_tags(found) == {
        "Name": "quiet-river web 1",
        "nimbill:stack": launched.order.stack_id,
        "nimbill:instance": launched.machine.instance_key,
        "nimbill:flag": "web",
    }
    (volume,) = cloud.client.describe_volumes(
        VolumeIds=[found["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]]
    )["Volumes"]
    assert volume["VolumeType"] == "gp3"
    written = json.loads(cloud.user_data(found["InstanceId"]).partition("\n")[2])
    config, unit = written["write_files"]
    assert json.loads(config["content"]) == {
        "address": "http://x",
        "stack_id": launched.order.stack_id,
        "flag": "web",
        "token": TOKEN,
    }
    assert config["permissions"] == "0600"
    assert "nimbill agent --config /etc/nimbill/agent.json" in unit["content"]
    assert TOKEN not in unit["content"]


def test_what_was_launched_is_found_and_not_launched_again(cloud: Cloud) -> None:
    launched = Launched(cloud)

    again = launched.provisioner.launch(replace(launched.machine, instance_id=None))

    assert again == launched.machine.instance_id
    assert len(cloud.instances(launched.order.stack_id)) == 1


def test_spot_instances_where_they_are_asked_for(cloud: Cloud) -> None:
    (on_demand,) = cloud.instances(Launched(cloud).order.stack_id)
    (spot,) = cloud.instances(Launched(cloud, spot=True).order.stack_id)

    assert "InstanceLifecycle" not in on_demand
    assert spot["InstanceLifecycle"] == "spot"


def test_an_image_for_the_architecture_of_the_type(cloud: Cloud) -> None:
    (found,) = cloud.instances(Launched(cloud, instance_type="t4g.small").order.stack_id)

    (image,) = cloud.client.describe_images(ImageIds=[found["ImageId"]])["Images"]
    assert image["Architecture"] == "arm64"


def test_another_type_is_given_step_by_step_and_the_instance_stays(cloud: Cloud) -> None:
    launched = Launched(cloud)
    wanted = {**launched.machine.provision, "instance_type": "t3.large"}
    changed = replace(launched.machine, provision=wanted)

    looks = [launched.look(changed) for _ in range(3)]

    assert looks == [ObservedState.starting, ObservedState.starting, ObservedState.running]
    (found,) = cloud.instances(launched.order.stack_id)
    assert (found["InstanceId"], found["InstanceType"]) == (changed.instance_id, "t3.large")


def test_one_that_somebody_stopped_is_started_and_one_that_is_ended_is_gone(cloud: Cloud) -> None:
    launched = Launched(cloud)
    running = replace(launched.machine, state=InstanceState.running)
    cloud.client.stop_instances(InstanceIds=[running.instance_id])
    assert [launched.look(running) for _ in range(2)] == [
        ObservedState.starting,
        ObservedState.running,
    ]

    cloud.client.terminate_instances(InstanceIds=[running.instance_id])
    assert launched.look(running) is ObservedState.gone


def test_one_that_is_not_listed_is_coming_at_first_and_gone_later(cloud: Cloud) -> None:
    launched = Launched(cloud)
    unknown = replace(launched.machine, instance_id="i-0000000000000000f")

    assert launched.look(unknown) is ObservedState.starting
    assert launched.look(replace(unknown, state=InstanceState.running)) is ObservedState.gone


def test_ending_takes_the_named_ones_and_clearing_whatever_is_left(cloud: Cloud) -> None:
    launched = Launched(cloud, keypair=True)
    other = replace(launched.machine, instance_key=new_id("ins"), ordinal=1, instance_id=None)
    left = launched.provisioner.launch(other)
    assert cloud.key_pairs().count(f"nimbill-{launched.order.stack_id}") == 1

    assert launched.provisioner.terminate([launched.machine]) == set()
    assert launched.provisioner.terminate([launched.machine]) == {launched.machine.instance_key}
    assert [one["InstanceId"] for one in cloud.instances(launched.order.stack_id)] == [left]

    assert [launched.provisioner.delete_remaining() for _ in range(3)] == [False, True, True]
    assert cloud.instances(launched.order.stack_id) == []
    assert f"nimbill-{launched.order.stack_id}" not in cloud.key_pairs()


def test_one_that_was_launched_without_our_hearing_of_it_is_ended_by_its_key(cloud: Cloud) -> None:
    launched = Launched(cloud)
    unheard = replace(launched.machine, instance_id=None)

    assert launched.provisioner.terminate([unheard]) == set()
    assert launched.provisioner.terminate([unheard]) == {unheard.instance_key}


@pytest.mark.parametrize(
    ("provision", "why"),
    [
        ({"image": "ami-0000000000000000f"}, "there is no such image"),
        ({"instance_type": "zz.small"}, "there is no such instance type"),
    ],
)
def test_what_is_refused_says_why(cloud: Cloud, provision: dict[str, str], why: str) -> None:
    with pytest.raises(PermanentError, match=why) as refused:
        Launched(cloud, **provision)

    assert not {TOKEN, *CREDENTIAL.split(":"), *provision.values()} & set(
        str(refused.value).split()
    )


@pytest.mark.parametrize("written", ["", "x", ":x", "x:", "x:y:"])
def test_a_credential_of_another_form_is_refused_without_being_repeated(written: str) -> None:
    with pytest.raises(PermanentError, match=r"^the credential is not of the form key id:secret$"):
        parse_credentials(written)


def test_a_credential_may_carry_a_session_token_with_colons() -> None:
    assert parse_credentials("id:secret") == ("id", "secret", None)
    assert parse_credentials(" id:secret:a:b\n") == ("id", "secret", "a:b")


def test_a_cloud_that_does_not_answer_is_asked_again_later() -> None:
    provisioner = AwsProvisioner(order(), "http://127.0.0.1:9")

    with pytest.raises(TransientError, match="AWS cannot be reached"):
        provisioner.delete_remaining()


CANARY = "AKIA-canary-in-the-message"


def said(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": CANARY}}, "RunInstances")


@pytest.mark.parametrize(
    ("error", "kind", "why"),
    [
        (said("RequestLimitExceeded"), TransientError, "AWS is throttling requests"),
        (said("InsufficientInstanceCapacity"), TransientError, "no capacity"),
        (said("UnauthorizedOperation"), PermanentError, "the credential does not permit it"),
        (said("AuthFailure"), PermanentError, "AWS rejects the credential"),
        (
            said("InvalidParameterValue.Some"),
            PermanentError,
            "a value of the provision is not accepted",
        ),
        (said("NeverHeardOf"), PermanentError, r"AWS refused it \(NeverHeardOf\)"),
        (said(CANARY), PermanentError, r"AWS refused it \(no code\)"),
        (ReadTimeoutError(endpoint_url=CANARY), TransientError, "AWS cannot be reached"),
        (ConnectTimeoutError(endpoint_url=CANARY), TransientError, "AWS cannot be reached"),
        (NoRegionError(), PermanentError, "NoRegionError"),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, type) else value.__name__,
)
def test_what_aws_says_is_told_in_our_words(error: Exception, kind: type, why: str) -> None:
    refusal = translate_error(error, "it could not be launched")

    assert type(refusal) is kind
    with pytest.raises(kind, match=why):
        raise refusal
    assert CANARY not in str(refusal)
