"""`nimbill agent` as a real process: it registers, follows its layer, passes notices on, leaves."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.command_line import start_command, wait_until
from tests.legacy.provisioning.metadata_server import metadata_server
from tests.legacy.provisioning.stack_user import StackUser, build_layer, build_stack_template
from tests.proof.real_server import free_port, nimbill

SECONDS_MAX = 60


def new_stack(life: StackUser) -> str:
    stack_id = life.apply(build_stack_template(build_layer("web", instance_count=0)))
    assert life.status(stack_id) == "CREATE_COMPLETE"
    return stack_id


def words(life: StackUser, stack_id: str, **options: str) -> list[str]:
    given = {
        "address": life.server.url,
        "stack-id": stack_id,
        "flag": "web",
        "instance-id": f"i-{stack_id[-6:]}",
        "metadata-address": "",
        "poll-seconds": "0.2",
        **options,
    }
    return ["agent", *(word for name, value in given.items() for word in (f"--{name}", value))]


def with_token(life: StackUser, stack_id: str) -> dict[str, str]:
    token = {"NIMBILL_AGENT_TOKEN": life.stack(stack_id)["auth_token"]}
    return {**life.server.environment, **token}


@contextmanager
def running(line: list[str], env: dict[str, str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = start_command(*line, env=env, cwd=folder)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_it_follows_its_layer_and_says_when_it_leaves(simulated: StackUser, tmp_path: Path) -> None:
    life, stack_id = simulated, new_stack(simulated)
    container = f"i-{stack_id[-6:]}"

    with running(words(life, stack_id), with_token(life, stack_id), tmp_path) as process:
        wait_until(lambda: life.containers(stack_id) == {container: "running"}, "it never ran")
        before = update_time(life, container)
        wait_until(lambda: time.time() >= before + 1, "times of containers are whole seconds")
        life.update(stack_id, build_stack_template(build_layer("web", instance_count=0)))
        wait_until(lambda: update_time(life, container) > before, "it did not see the change")
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0

    assert life.containers(stack_id) == {container: "terminated"}


def update_time(life: StackUser, container: str) -> int:
    return int(life.call("GET", f"/v3/alm/container/{container}").json()["update_time"])


def test_a_notice_is_passed_on_once_from_a_file(simulated: StackUser, tmp_path: Path) -> None:
    life = simulated
    stack_id = life.apply(build_stack_template(build_layer("web", instance_count=1)))
    life.settled(stack_id)
    (instance,) = life.items()["web"][1]
    notice = tmp_path / "notice"
    options = {"instance-id": instance, "notice-file": str(notice)}

    with running(words(life, stack_id, **options), with_token(life, stack_id), tmp_path):
        wait_until(lambda: life.containers(stack_id)[instance] == "running", "it never ran")
        assert life.items()["web"][1] == [instance]
        notice.write_text("terminate at 2026-11-15T12:00:00Z")
        wait_until(lambda: instance not in life.items()["web"][1], "it was not replaced")

    assert life.status(stack_id) == "UPDATE_COMPLETE"
    assert len(life.items()["web"][1]) == 1


def test_the_instance_and_its_notice_are_known_from_the_metadata(
    simulated: StackUser, tmp_path: Path
) -> None:
    life = simulated
    stack_id = life.apply(build_stack_template(build_layer("web", instance_count=1)))
    life.settled(stack_id)
    (instance,) = life.items()["web"][1]
    config = tmp_path / "agent.json"
    token = life.stack(stack_id)["auth_token"]
    known = {"address": life.server.url, "stack_id": stack_id, "flag": "web", "token": token}
    config.write_text(json.dumps(known))

    with metadata_server(instance_id=instance) as metadata:
        line = ["agent", "--config", str(config), "--metadata-address", metadata.url]
        line += ["--poll-seconds", "0.2"]
        with running(line, dict(life.server.environment), tmp_path):
            wait_until(lambda: life.containers(stack_id)[instance] == "running", "it never ran")
            metadata.answers["instance_action"] = '{"action": "terminate"}'
            wait_until(lambda: instance not in life.items()["web"][1], "it was not replaced")
        assert metadata.without_token == 0


def test_a_token_that_does_not_stand_is_exit_code_3(simulated: StackUser, tmp_path: Path) -> None:
    life, stack_id = simulated, new_stack(simulated)
    env = {**life.server.environment, "NIMBILL_AGENT_TOKEN": "canary-token"}

    refused = nimbill(*words(life, stack_id), env=env)
    assert refused.returncode == 3
    assert "the token of the stack does not stand" in refused.stderr
    assert "canary" not in refused.stderr

    with running(words(life, stack_id), with_token(life, stack_id), tmp_path) as process:
        wait_until(lambda: bool(life.containers(stack_id)), "it never ran")
        life.delete(stack_id)
        assert process.wait(SECONDS_MAX) == 3, "its stack is gone"


def test_what_cannot_be_used_is_exit_code_2(simulated: StackUser, tmp_path: Path) -> None:
    env = dict(simulated.server.environment)
    file = tmp_path / "agent.json"
    file.write_text("[]")

    nothing = nimbill("agent", env=env)
    no_object = nimbill("agent", "--config", str(file), env=env)
    no_address = nimbill(
        *words(simulated, "stk", address="ftp://x"), env={**env, "NIMBILL_AGENT_TOKEN": "x"}
    )
    no_file = nimbill("agent", "--config", str(tmp_path / "none"), env=env)

    assert [one.returncode for one in (nothing, no_object, no_address, no_file)] == [2, 2, 2, 2]
    assert "the agent needs address, stack_id, flag, token" in nothing.stderr
    assert "must hold a JSON object" in no_object.stderr


def test_a_service_that_is_away_is_exit_code_4(simulated: StackUser) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    line = words(simulated, "stk", address=address, **{"patience-seconds": "1"})
    env = {**simulated.server.environment, "NIMBILL_AGENT_TOKEN": "x"}

    done = nimbill(*line, env=env)

    assert done.returncode == 4
    assert "the service cannot be reached" in done.stderr


def test_no_option_takes_the_token() -> None:
    shown = nimbill("agent", "--help", env={})

    assert "--token" not in shown.stdout
