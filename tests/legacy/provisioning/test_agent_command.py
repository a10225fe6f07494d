"""`nimbill agent`: registers, follows its layer, reports termination notices, and exit codes."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from nimbill.commands import agent as agent_command
from nimbill.commands.agent import TOKEN_VARIABLE, agent
from nimbill.legacy.agent_program import AgentConfig, StackAgent, TokenRefused
from tests.command_line import build_environment, start_command, wait_until
from tests.legacy.http_server import ServiceBridge
from tests.legacy.provisioning.metadata_server import metadata_server
from tests.legacy.provisioning.stack_user import StackUser, build_layer, build_stack_template
from tests.proof.real_server import free_port

EXIT_SECONDS_MAX = 60
TIMEOUT_SECONDS = 0.1


def create_empty_stack(user: StackUser) -> str:
    stack_id = user.apply(build_stack_template(build_layer("web", instance_count=0)))
    assert user.wait_for_status(stack_id) == "CREATE_COMPLETE"
    return stack_id


def create_instance(user: StackUser) -> tuple[str, str]:
    """The ids of a stack and of its only instance."""
    stack_id = user.apply(build_stack_template(build_layer("web", instance_count=1)))
    user.wait_for_stack(stack_id)
    (instance_id,) = user.read_layers()["web"][1]
    return stack_id, instance_id


def build_config(user: StackUser, stack_id: str, **values: Any) -> AgentConfig:
    return AgentConfig(
        user.address,
        stack_id,
        "web",
        user.read_stack(stack_id)["auth_token"],
        poll_seconds=0.05,
        **values,
    )


class AgentThread(threading.Thread):
    def __init__(self, config: AgentConfig) -> None:
        super().__init__(daemon=True)
        self.agent = StackAgent(config)
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.agent.run()
        except Exception as error:  # noqa: BLE001  # for the test to look at
            self.error = error


@contextmanager
def running_agent(config: AgentConfig) -> Iterator[AgentThread]:
    thread = AgentThread(config)
    thread.start()
    try:
        yield thread
    finally:
        thread.agent.stop()
        thread.join()


# A real process, because only there a signal ends the command; its start takes most of the time.
def test_it_follows_its_layer_until_sigterm_and_reports_its_end(
    local_user: StackUser, local_bridge: ServiceBridge, tmp_path: Path
) -> None:
    user, stack_id = local_user, create_empty_stack(local_user)
    instance_id = f"i-{stack_id[-6:]}"
    token = {TOKEN_VARIABLE: user.read_stack(stack_id)["auth_token"]}
    options = {
        "address": user.address,
        "stack-id": stack_id,
        "flag": "web",
        "instance-id": instance_id,
        "metadata-address": "",
        "poll-seconds": "0.05",
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]

    process = start_command(
        "agent", *arguments, env=build_environment(tmp_path, **token), cwd=tmp_path
    )
    try:
        wait_until(
            lambda: user.read_containers(stack_id) == {instance_id: "running"},
            "the container must run",
            pause=0.05,
        )
        local_bridge.bodies.clear()
        user.update(stack_id, build_stack_template(build_layer("web", instance_count=0)))
        wait_until(
            lambda: any(b'"updating"' in body for body in local_bridge.bodies),
            "the agent must apply the changed configuration",
            pause=0.05,
        )
        process.send_signal(signal.SIGTERM)
        assert process.wait(EXIT_SECONDS_MAX) == 0
    finally:
        process.kill()
        process.communicate()

    assert user.read_containers(stack_id) == {instance_id: "terminated"}


def test_a_notice_file_replaces_the_instance(local_user: StackUser, tmp_path: Path) -> None:
    user = local_user
    stack_id, instance_id = create_instance(user)
    notice_file = tmp_path / "notice"
    config = build_config(
        user, stack_id, instance_id=instance_id, metadata_address="", notice_file=notice_file
    )

    with running_agent(config):
        wait_until(
            lambda: user.read_containers(stack_id)[instance_id] == "running",
            "the container must run",
            pause=0.05,
        )
        assert user.read_layers()["web"][1] == [instance_id]
        notice_file.write_text("terminate at 2026-11-15T12:00:00Z")
        wait_until(
            lambda: instance_id not in user.read_layers()["web"][1],
            "the instance must be replaced",
            pause=0.05,
        )

    assert user.wait_for_status(stack_id) == "UPDATE_COMPLETE"
    assert len(user.read_layers()["web"][1]) == 1


def test_the_instance_id_and_the_notice_are_read_from_the_metadata(local_user: StackUser) -> None:
    user = local_user
    stack_id, instance_id = create_instance(user)

    with metadata_server(instance_id=instance_id) as metadata:
        with running_agent(build_config(user, stack_id, metadata_address=metadata.url)):
            wait_until(
                lambda: user.read_containers(stack_id)[instance_id] == "running",
                "the container must run",
                pause=0.05,
            )
            metadata.values["instance_action"] = '{"action": "terminate"}'
            wait_until(
                lambda: instance_id not in user.read_layers()["web"][1],
                "the instance must be replaced",
                pause=0.05,
            )
        assert metadata.requests_without_token == 0


def test_it_ends_when_its_stack_is_deleted(local_user: StackUser) -> None:
    user, stack_id = local_user, create_empty_stack(local_user)
    config = build_config(user, stack_id, instance_id="i-1", metadata_address="")

    with running_agent(config) as thread:
        wait_until(
            lambda: bool(user.read_containers(stack_id)), "the container must run", pause=0.05
        )
        user.delete(stack_id)
        thread.join(EXIT_SECONDS_MAX)

    assert isinstance(thread.error, TokenRefused)


def test_an_invalid_token_is_exit_code_3(
    local_user: StackUser,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stack_id = create_empty_stack(local_user)
    monkeypatch.setenv(TOKEN_VARIABLE, "canary-token")

    with pytest.raises(SystemExit) as exited:
        agent(
            address=local_user.address,
            stack_id=stack_id,
            flag="web",
            instance_id="i-1",
            metadata_address="",
            once=True,
        )

    assert exited.value.code == 3
    message = capsys.readouterr().err
    assert "The token of the stack is invalid or has been revoked" in message
    assert "canary" not in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "The agent needs address, stack_id, flag, token."),
        ({"config": "list.json"}, "list.json must contain a JSON object."),
        ({"config": "agent.json", "address": "ftp://x"}, "must be an http or https address."),
        ({"config": "agent.json", "stack_id": ""}, "The agent needs stack_id."),
    ],
)
def test_an_invalid_configuration_is_exit_code_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: dict[str, Any],
    message: str,
) -> None:
    (tmp_path / "list.json").write_text("[]")
    values = {"address": "http://x", "stack_id": "stk", "flag": "web", "token": "x"}
    (tmp_path / "agent.json").write_text(json.dumps(values))
    if "config" in options:
        options = options | {"config": tmp_path / options["config"]}

    with pytest.raises(SystemExit) as exited:
        agent(**options, metadata_address="", once=True)

    assert exited.value.code == 2
    assert message in capsys.readouterr().err


def test_a_missing_configuration_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    """The command line turns it into exit code 2, as for all commands."""
    with pytest.raises(FileNotFoundError):
        agent(config=tmp_path / "none")


def test_an_unreachable_service_is_exit_code_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "x")

    with pytest.raises(SystemExit) as exited:
        agent(
            address=f"http://127.0.0.1:{free_port()}",
            stack_id="stk",
            flag="web",
            instance_id="i-1",
            metadata_address="",
            patience_seconds=TIMEOUT_SECONDS,
            once=True,
        )

    assert exited.value.code == 4
    assert "cannot be reached" in capsys.readouterr().err


def test_options_and_the_environment_take_precedence_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"address": "http://file", "stack_id": "stk_file", "flag": "file", "token": "file"}
    file = tmp_path / "agent.json"
    file.write_text(json.dumps(values | {"poll_seconds": 1, "other": "ignored"}))
    monkeypatch.setenv(TOKEN_VARIABLE, "from environment")
    started: list[StackAgent] = []
    monkeypatch.setattr(agent_command, "_run", lambda agent, **_: started.append(agent))

    agent(
        config=file,
        stack_id="stk_option",
        instance_id="i-1",
        metadata_address="http://metadata/",
        notice_file=tmp_path / "notice",
        poll_seconds=2,
        patience_seconds=3,
    )

    assert [each.config for each in started] == [
        AgentConfig(
            "http://file",
            "stk_option",
            "file",
            "from environment",
            instance_id="i-1",
            metadata_address="http://metadata",
            notice_file=tmp_path / "notice",
            poll_seconds=2,
            patience_seconds=3,
        )
    ]


def test_no_option_takes_the_token() -> None:
    assert "token" not in signature(agent).parameters
