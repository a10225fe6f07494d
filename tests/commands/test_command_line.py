"""The program as a whole: help, unknown commands and options, and the entry point."""

from __future__ import annotations

import re
from pathlib import Path

from tests.command_line import build_environment
from tests.commands.run_command import run_command
from tests.proof.real_server import nimbill


def test_unknown_commands_and_invalid_options_exit_with_2(tmp_path: Path) -> None:
    env = build_environment(tmp_path / "data")

    unknown_command = nimbill("no-such-command", env=env)
    invalid_option = run_command("serve", "--workers", "0", env=env)

    for result in (unknown_command, invalid_option):
        assert result.returncode == 2
        assert "Error" in result.stderr
    assert not (tmp_path / "data").exists()


def test_help_lists_every_command(tmp_path: Path) -> None:
    result = run_command("--help", env=build_environment(tmp_path / "data"))

    assert result.returncode == 0
    for command in ("init", "serve", "demo", "audit", "keys", "import", "invoice", "tie-out"):
        assert re.search(rf"\b{command} +[A-Z]", result.stdout), command
