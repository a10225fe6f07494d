"""What all commands have in common: --json, unknown organisations, completion in the shell."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import PASSWORD, build_environment
from tests.commands.declared_commands import (
    CHANGING_ARGUMENTS,
    READING_ARGUMENTS,
    RUN_UNTIL_STOPPED,
    build_arguments,
    list_commands,
)
from tests.commands.run_command import run_command, service_environment
from tests.running_service import Service

COMPLETE_WORDS = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _nimbill
echo "${COMPREPLY[*]}"
"""


def test_every_command_with_a_result_prints_it_as_json_too() -> None:
    without = {command.name for command in list_commands() if "--json" not in command.options}

    assert without == RUN_UNTIL_STOPPED


def test_every_command_of_an_organisation_refuses_an_unknown_one(service: Service) -> None:
    env = service_environment(service)
    names = {command.name for command in list_commands() if "--organisation" in command.options}
    assert names == READING_ARGUMENTS.keys() | CHANGING_ARGUMENTS.keys() | {"init"}

    for name in sorted(names - {"init"}):
        arguments = build_arguments(name, "org_unknown")
        result = run_command(*arguments, env=env, stdin=PASSWORD)

        assert result.returncode == 2, name
        assert result.stdout.count("\n") == 1, name
        assert json.loads(result.stdout)["error"]["code"] == "not_found", name
        assert result.stderr.count("\n") == 1, name


def test_an_organisation_is_named_by_id_short_name_or_name(service: Service) -> None:
    env = service_environment(service)
    organisation = service.new_organisation("Kaede & Momiji Partners")
    japanese = service.new_organisation("株式会社 楓").organisation_id
    names = {
        organisation.organisation_id: organisation.organisation_id,
        "Kaede & Momiji PARTNERS ": organisation.organisation_id,
        "KAEDE-momiji-partners": organisation.organisation_id,
        "株式会社 楓": japanese,
    }

    for name, organisation_id in names.items():
        result = run_command("audit", "verify", "--organisation", name, "--json", env=env)
        assert json.loads(result.stdout)["organisation_id"] == organisation_id, result.stderr

    for name in ("kaede momiji partners", "nobody", "", "\ud800"):
        result = run_command("groups", "list", "--organisation", name, env=env)
        assert result.returncode == 2
        assert result.stderr == "nimbill: No organisation has this id or name.\n"


def test_a_name_that_two_organisations_have_is_refused(service: Service) -> None:
    for _ in range(2):
        service.new_organisation("双子 株式会社")

    arguments = ("groups", "list", "--organisation", "双子 株式会社")
    result = run_command(*arguments, env=service_environment(service))

    assert result.returncode == 2
    assert "Several organisations have this name. Use the id or the short name" in result.stderr


def test_invalid_arguments_are_one_unbroken_line_in_a_pipe(tmp_path: Path) -> None:
    env = build_environment(tmp_path / "data", COLUMNS="40")

    result = run_command("groups", "create", "BG-1", "--no-such-option", env=env)

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("nimbill: ")


def install_completion(folder: Path, shell: str) -> Path:
    env = build_environment(folder / "data") | {"HOME": str(folder)}
    script = folder / f"completion.{shell}"
    arguments = ("--install-completion", "--shell", shell, "--output", str(script))

    result = run_command(*arguments, env=env)

    assert result.returncode == 0, result.stderr
    return script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_the_shell(tmp_path: Path, shell: str) -> None:
    script = install_completion(tmp_path, shell).read_text()

    for word in ("groups", "accounts", "rates", "reopen", "organisation"):
        assert word in script, word


def test_bash_completes_commands_options_and_values_without_starting_the_program(
    tmp_path: Path,
) -> None:
    script = install_completion(tmp_path, "bash")
    bash = shutil.which("bash")
    assert bash is not None

    def complete(*words: str) -> list[str]:
        result = subprocess.run(
            [bash, "--norc", "-c", COMPLETE_WORDS, "bash", str(script), "nimbill", *words],
            env={"PATH": "/nonexistent"},  # no program can be started
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stderr == ""
        return result.stdout.split()

    assert complete("mo") == ["month"]
    assert complete("month", "") == ["show", "close", "reopen"]
    assert complete("month", "close", "--o") == ["--override", "--organisation"]
    assert complete("month", "close", "2026-10", "--vendor", "") == ["aws", "azure"]
