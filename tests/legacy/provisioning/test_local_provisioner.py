"""Simulated instances: ids, computed values, and agents that cannot reach the service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nimbill.legacy.provisioning import local_provisioner
from nimbill.legacy.provisioning.instance_plan import InstanceState
from nimbill.legacy.provisioning.local_provisioner import LocalProvisioner
from nimbill.legacy.provisioning.provisioner import (
    Instance,
    LaunchContext,
    Observation,
    ObservedState,
    TransientError,
)
from tests.proof.real_server import free_port

PROVISION: dict[str, Any] = {
    "image": "${computed}",
    "volume_type": "${computed}",
    "instance_type": "t4g.small",
    "keypair": False,
    "spot": False,
}


@pytest.fixture
def provisioner(monkeypatch: pytest.MonkeyPatch) -> LocalProvisioner:
    """The agents of its instances cannot reach the service."""
    monkeypatch.setattr(local_provisioner, "TIMEOUT_SECONDS", 0.2)
    address = f"http://127.0.0.1:{free_port()}"
    return LocalProvisioner(LaunchContext("org", "stk", "n", "eu-west-1", address, "token", "cred"))


def build_instance(state: InstanceState, key: str = "ins_1") -> Instance:
    return Instance(key, "web", 0, PROVISION, state, "i-1")


def test_instance_ids_have_the_form_of_ec2_and_depend_on_the_key_only(
    provisioner: LocalProvisioner,
) -> None:
    first = provisioner.launch(build_instance(InstanceState.pending))

    assert first == provisioner.launch(build_instance(InstanceState.pending))
    assert first != provisioner.launch(build_instance(InstanceState.pending, "ins_2"))
    assert len(first) == len("i-0123456789abcdef0")
    assert int(first.removeprefix("i-"), 16) > 0


def test_only_fields_that_are_computed_get_a_value(provisioner: LocalProvisioner) -> None:
    values = provisioner.compute_values(PROVISION)

    assert values["volume_type"] == "gp3"
    assert values["image"].startswith("ami-")
    assert provisioner.compute_values({**PROVISION, "image": "ami-1", "volume_type": "gp2"}) == {}


def test_an_agent_that_cannot_reach_the_service_is_a_transient_error(
    provisioner: LocalProvisioner,
) -> None:
    with pytest.raises(TransientError, match="the agent of an instance cannot reach the service"):
        provisioner.update_instances([build_instance(InstanceState.launching)])
    with pytest.raises(TransientError):
        provisioner.update_instances(
            [replace(build_instance(InstanceState.running), is_outdated=True)]
        )


def test_a_running_instance_is_not_changed(provisioner: LocalProvisioner) -> None:
    assert provisioner.update_instances([build_instance(InstanceState.running)]) == {
        "ins_1": Observation(ObservedState.running)
    }


def test_an_instance_terminates_although_its_agent_cannot_report_it(
    provisioner: LocalProvisioner,
) -> None:
    assert provisioner.terminate([build_instance(InstanceState.terminating)]) == {"ins_1"}
    assert provisioner.delete_remaining()
