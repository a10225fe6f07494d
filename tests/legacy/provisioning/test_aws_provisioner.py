"""The AWS provisioner against a simulated EC2."""

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


def build_context(**changes: str) -> LaunchContext:
    context = LaunchContext(
        "org", new_id("stk"), "quiet-river", REGION, "http://x", TOKEN, CREDENTIAL
    )
    return replace(context, **changes)


class LaunchedInstance:
    """One instance of a stack of its own."""

    def __init__(self, cloud: Cloud, **provision: Any) -> None:
        self.context = build_context()
        self.provisioner = AwsProvisioner(self.context, cloud.url)
        values = PROVISION | provision
        values |= self.provisioner.compute_values(values)
        self.instance = Instance(new_id("ins"), "web", 0, values, InstanceState.pending, None)
        instance_id = self.provisioner.launch(self.instance)
        self.instance = replace(
            self.instance, instance_id=instance_id, state=InstanceState.launching
        )

    def observe(self, instance: Instance | None = None) -> ObservedState:
        instance = instance or self.instance
        return self.provisioner.update_instances([instance])[instance.instance_key].state


# The first request for images takes more than 5 s: the simulated EC2 loads its catalogue.
def test_a_launched_instance_has_tags_and_the_configuration_of_its_agent(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud)

    (found,) = cloud.instances(launched.context.stack_id)
    assert found["InstanceId"] == launched.instance.instance_id
    assert found["ImageId"].startswith("ami-")
    assert "KeyName" not in found
    assert read_tags(found) == {
        "Name": "quiet-river web 1",
        "nimbill:stack": launched.context.stack_id,
        "nimbill:instance": launched.instance.instance_key,
        "nimbill:flag": "web",
    }
    (volume,) = cloud.client.describe_volumes(
        VolumeIds=[found["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]]
    )["Volumes"]
    assert volume["VolumeType"] == "gp3"
    document = json.loads(cloud.user_data(found["InstanceId"]).partition("\n")[2])
    config, unit = document["write_files"]
    assert json.loads(config["content"]) == {
        "address": "http://x",
        "stack_id": launched.context.stack_id,
        "flag": "web",
        "token": TOKEN,
    }
    assert config["permissions"] == "0600"
    assert "nimbill agent --config /etc/nimbill/agent.json" in unit["content"]
    assert TOKEN not in unit["content"]


def test_a_repeated_launch_finds_the_same_instance(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud)

    repeated = launched.provisioner.launch(replace(launched.instance, instance_id=None))

    assert repeated == launched.instance.instance_id
    assert len(cloud.instances(launched.context.stack_id)) == 1


def test_spot_instances_are_launched_only_if_requested(cloud: Cloud) -> None:
    (on_demand,) = cloud.instances(LaunchedInstance(cloud).context.stack_id)
    (spot,) = cloud.instances(LaunchedInstance(cloud, spot=True).context.stack_id)

    assert "InstanceLifecycle" not in on_demand
    assert spot["InstanceLifecycle"] == "spot"


def test_the_image_has_the_architecture_of_the_instance_type(cloud: Cloud) -> None:
    (found,) = cloud.instances(LaunchedInstance(cloud, instance_type="t4g.small").context.stack_id)

    (image,) = cloud.client.describe_images(ImageIds=[found["ImageId"]])["Images"]
    assert image["Architecture"] == "arm64"


def test_the_type_of_an_instance_changes_in_three_steps(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud)
    provision = {**launched.instance.provision, "instance_type": "t3.large"}
    changed = replace(launched.instance, provision=provision)

    states = [launched.observe(changed) for _ in range(3)]

    assert states == [ObservedState.starting, ObservedState.starting, ObservedState.running]
    (found,) = cloud.instances(launched.context.stack_id)
    assert (found["InstanceId"], found["InstanceType"]) == (changed.instance_id, "t3.large")


def test_a_stopped_instance_is_started_and_a_terminated_one_is_gone(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud)
    running = replace(launched.instance, state=InstanceState.running)
    cloud.client.stop_instances(InstanceIds=[running.instance_id])
    assert [launched.observe(running) for _ in range(2)] == [
        ObservedState.starting,
        ObservedState.running,
    ]

    cloud.client.terminate_instances(InstanceIds=[running.instance_id])
    assert launched.observe(running) is ObservedState.gone


def test_an_unlisted_instance_is_starting_after_launch_and_gone_later(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud)
    unknown = replace(launched.instance, instance_id="i-0000000000000000f")

    assert launched.observe(unknown) is ObservedState.starting
    assert launched.observe(replace(unknown, state=InstanceState.running)) is ObservedState.gone


def test_termination_affects_given_instances_and_deletion_everything_else(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud, keypair=True)
    other = replace(launched.instance, instance_key=new_id("ins"), ordinal=1, instance_id=None)
    other_id = launched.provisioner.launch(other)
    assert cloud.key_pairs().count(f"nimbill-{launched.context.stack_id}") == 1

    assert launched.provisioner.terminate([launched.instance]) == set()
    assert launched.provisioner.terminate([launched.instance]) == {launched.instance.instance_key}
    assert [each["InstanceId"] for each in cloud.instances(launched.context.stack_id)] == [other_id]

    assert [launched.provisioner.delete_remaining() for _ in range(3)] == [False, True, True]
    assert cloud.instances(launched.context.stack_id) == []
    assert f"nimbill-{launched.context.stack_id}" not in cloud.key_pairs()


def test_an_instance_whose_id_is_unknown_is_terminated_by_its_key(cloud: Cloud) -> None:
    launched = LaunchedInstance(cloud)
    without_id = replace(launched.instance, instance_id=None)

    assert launched.provisioner.terminate([without_id]) == set()
    assert launched.provisioner.terminate([without_id]) == {without_id.instance_key}


@pytest.mark.parametrize(
    ("provision", "reason"),
    [
        ({"image": "ami-0000000000000000f"}, "there is no such image"),
        ({"instance_type": "zz.small"}, "there is no such instance type"),
    ],
)
def test_a_rejected_launch_has_a_reason(
    cloud: Cloud, provision: dict[str, str], reason: str
) -> None:
    with pytest.raises(PermanentError, match=reason) as refused:
        LaunchedInstance(cloud, **provision)

    assert not {TOKEN, *CREDENTIAL.split(":"), *provision.values()} & set(
        str(refused.value).split()
    )


@pytest.mark.parametrize("text", ["", "x", ":x", "x:", "x:y:"])
def test_a_malformed_credential_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(PermanentError, match=r"^the credential is not of the form key id:secret$"):
        parse_credentials(text)


def test_a_credential_may_contain_a_session_token_with_colons() -> None:
    assert parse_credentials("id:secret") == ("id", "secret", None)
    assert parse_credentials(" id:secret:a:b\n") == ("id", "secret", "a:b")


def test_an_unreachable_aws_is_a_transient_error() -> None:
    provisioner = AwsProvisioner(build_context(), "http://127.0.0.1:9")

    with pytest.raises(TransientError, match="AWS cannot be reached"):
        provisioner.delete_remaining()


CANARY = "AKIA-canary-in-the-message"


def build_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": CANARY}}, "RunInstances")


@pytest.mark.parametrize(
    ("error", "error_type", "reason"),
    [
        (build_error("RequestLimitExceeded"), TransientError, "AWS is throttling requests"),
        (build_error("InsufficientInstanceCapacity"), TransientError, "no capacity"),
        (build_error("UnauthorizedOperation"), PermanentError, "the credential does not permit it"),
        (build_error("AuthFailure"), PermanentError, "AWS rejects the credential"),
        (
            build_error("InvalidParameterValue.Some"),
            PermanentError,
            "a value of the provision is not accepted",
        ),
        (build_error("NeverHeardOf"), PermanentError, r"AWS refused it \(NeverHeardOf\)"),
        (build_error(CANARY), PermanentError, r"AWS refused it \(no code\)"),
        (ReadTimeoutError(endpoint_url=CANARY), TransientError, "AWS cannot be reached"),
        (ConnectTimeoutError(endpoint_url=CANARY), TransientError, "AWS cannot be reached"),
        (NoRegionError(), PermanentError, "NoRegionError"),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, type) else value.__name__,
)
def test_errors_of_aws_are_translated(error: Exception, error_type: type, reason: str) -> None:
    translated = translate_error(error, "it could not be launched")

    assert type(translated) is error_type
    with pytest.raises(error_type, match=reason):
        raise translated
    assert CANARY not in str(translated)
