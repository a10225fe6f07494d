"""The whole life of a stack: applied, reported by its agents, updated, replaced, deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.legacy.provisioning.cloud_server import Cloud, tags_of
from tests.legacy.provisioning.life import Life, config_file_in, layer, template
from tests.proof.real_server import nimbill


def types_of(cloud: Cloud, stack_id: str) -> list[str]:
    return sorted(one["InstanceType"] for one in cloud.instances(stack_id))


def ids_of(cloud: Cloud, stack_id: str) -> set[str]:
    return {one["InstanceId"] for one in cloud.instances(stack_id)}


def agent_says(life: Life, stack_id: str, **said: str) -> dict[str, Any]:
    body = {"stack_id": stack_id, **said}
    headers = life.agent_headers(stack_id)
    answer = life.call("POST", "/v3/alm/agent/agent_status", json=body, headers=headers)
    assert answer.status_code == 202, answer.text
    stored: dict[str, Any] = answer.json()
    return stored


def test_the_life_of_a_stack_in_the_cloud(life: Life, cloud: Cloud, tmp_path: Path) -> None:
    stack_id = life.apply(template(layer("web"), layer("db", container=False, instance_count=1)))
    assert life.status(stack_id) == "CREATE_COMPLETE"
    first = cloud.instances(stack_id)
    assert types_of(cloud, stack_id) == ["t3.small"] * 3
    assert sorted(tags_of(one)["nimbill:flag"] for one in first) == ["db", "web", "web"]
    assert {one["KeyName"] for one in first} == {f"nimbill-{stack_id}"}
    items = life.items()
    assert {flag: (status, len(ids)) for flag, (status, ids) in items.items()} == {
        "web": ("completed", 2),
        "db": ("completed", 1),
    }

    of_web = next(one["InstanceId"] for one in first if tags_of(one)["nimbill:flag"] == "web")
    config = config_file_in(cloud.user_data(of_web), tmp_path)
    words = ["--config", str(config), "--instance-id", of_web, "--metadata-address", "", "--once"]
    done = nimbill("agent", *words, env=life.server.environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert life.containers(stack_id) == {of_web: "running"}

    life.update(stack_id, template(layer("web", instance_count=3, instance_type="t3.large")))
    assert life.status(stack_id) == "UPDATE_COMPLETE"
    assert types_of(cloud, stack_id) == ["t3.large"] * 3
    kept = ids_of(cloud, stack_id)
    assert of_web in kept, "another type is given to the instance that is there"
    assert list(life.items()) == ["web"]
    assert life.containers(stack_id) == {of_web: "complete"}

    agent_says(life, stack_id, agent_id=of_web, instance_id=of_web, status="spot_terminate")
    assert life.status(stack_id) == "UPDATE_COMPLETE"
    replaced = ids_of(cloud, stack_id)
    assert len(replaced) == 3
    assert kept - replaced == {of_web}

    life.delete(stack_id)
    gone = life.settled(stack_id)
    assert (gone["stack_status"], gone["auth_token"]) == ("DELETE_COMPLETE", "***")
    assert cloud.instances(stack_id) == []
    assert f"nimbill-{stack_id}" not in cloud.key_pairs()
    assert life.items() == {}


def test_the_same_life_on_a_laptop(simulated: Life) -> None:
    life = simulated
    stack_id = life.apply(template(layer("web"), layer("db", container=False, instance_count=1)))
    assert life.status(stack_id) == "CREATE_COMPLETE"
    status, first = life.items()["web"]
    assert (status, len(first)) == ("completed", 2)
    assert life.containers(stack_id) == dict.fromkeys(first, "complete")

    life.update(stack_id, template(layer("web", instance_count=3, instance_type="t3.large")))
    assert life.status(stack_id) == "UPDATE_COMPLETE"
    kept = life.items()["web"][1]
    assert set(first) < set(kept)
    assert len(kept) == 3
    assert life.containers(stack_id) == dict.fromkeys(kept, "complete")

    said = {"agent_id": kept[0], "instance_id": kept[0], "status": "spot_terminate"}
    assert agent_says(life, stack_id, **said)["status"] == "spot_terminate"
    assert life.status(stack_id) == "UPDATE_COMPLETE"
    replaced = life.items()["web"][1]
    assert set(kept) - set(replaced) == {kept[0]}
    assert len(replaced) == 3
    assert life.containers(stack_id)[kept[0]] == "terminated"

    life.delete(stack_id)
    assert life.status(stack_id) == "DELETE_COMPLETE"
    assert life.items() == {}
