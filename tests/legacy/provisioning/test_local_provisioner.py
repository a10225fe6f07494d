"""Instances that are only simulated: their ids, their computed values, and agents nobody hears."""

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
def alone(monkeypatch: pytest.MonkeyPatch) -> LocalProvisioner:
    """One whose agents reach nobody."""
    monkeypatch.setattr(local_provisioner, "TIMEOUT_SECONDS", 0.2)
    address = f"http://127.0.0.1:{free_port()}"
    return LocalProvisioner(LaunchContext("org", "stk", "n", "eu-west-1", address, "token", "cred"))


def machine(state: InstanceState, key: str = "ins_1") -> Instance:
    return Instance(key, "web", 0, PROVISION, state, "i-1")


def test_ids_look_like_ec2_s_and_are_the_same_whenever_asked(alone: LocalProvisioner) -> None:
    first = alone.launch(machine(InstanceState.pending))

    assert first == alone.launch(machine(InstanceState.pending))
    assert first != alone.launch(machine(InstanceState.pending, "ins_2"))
    assert len(first) == len("i-0123456789abcdef0")
    assert int(first.removeprefix("i-"), 16) > 0


def test_computed_values_are_invented_where_they_are_asked_for(alone: LocalProvisioner) -> None:
    filled = alone.compute_values(PROVISION)

    assert filled["volume_type"] == "gp3"
    assert filled["image"].startswith("ami-")
    assert alone.compute_values({**PROVISION, "image": "ami-1", "volume_type": "gp2"}) == {}


def test_an_agent_that_cannot_reach_the_service_is_booted_again_later(
    alone: LocalProvisioner,
) -> None:
    with pytest.raises(TransientError, match="the agent of an instance cannot reach the service"):
        alone.update_instances([machine(InstanceState.launching)])
    with pytest.raises(TransientError):
        alone.update_instances([replace(machine(InstanceState.running), is_outdated=True)])


def test_what_runs_is_left_alone(alone: LocalProvisioner) -> None:
    assert alone.update_instances([machine(InstanceState.running)]) == {
        "ins_1": Observation(ObservedState.running)
    }


def test_an_instance_ends_though_its_last_words_are_not_heard(alone: LocalProvisioner) -> None:
    assert alone.terminate([machine(InstanceState.terminating)]) == {"ins_1"}
    assert alone.delete_remaining()
