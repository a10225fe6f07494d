"""The program as a whole: help, unknown commands and options, and the entry point."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from nimbill.commands.command_line import COMMANDS
from tests.command_line import build_environment
from tests.commands.run_command import run_command, service_environment
from tests.proof.real_server import free_port, nimbill
from tests.running_service import Service


def test_unknown_commands_and_invalid_options_exit_with_2(tmp_path: Path) -> None:
    env = build_environment(tmp_path / "data")

    unknown_command = nimbill("no-such-command", env=env)
    invalid_option = run_command("serve", "--port", str(free_port()), "--workers", "0", env=env)

    assert unknown_command.returncode == invalid_option.returncode == 2
    assert 'Unknown command "no-such-command"' in unknown_command.stderr
    assert "--workers" in invalid_option.stderr
    assert not (tmp_path / "data").exists()


def test_an_unknown_setting_is_reported_with_the_nearest_name(service: Service) -> None:
    env = service_environment(service, NIMBILL_RATE_LIMITS="5")

    result = run_command("keys", "list", "--json", env=env)

    assert result.returncode == 0
    assert result.stderr == (
        "nimbill: warning: NIMBILL_RATE_LIMITS is not a setting and has no effect. "
        "Did you mean NIMBILL_RATE_LIMIT?\n"
    )
    assert "keys" in json.loads(result.stdout)


def test_help_lists_every_command(tmp_path: Path) -> None:
    result = run_command("--help", env=build_environment(tmp_path / "data"))

    assert result.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"\b{command} +[A-Z]", result.stdout), command


def test_a_path_that_is_not_utf8_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = str(tmp_path / os.fsdecode(b"a\xff.csv"))
    env = build_environment(tmp_path / "data")

    result = run_command("import", "--organisation", "org_1", "--vendor", "aws", path, env=env)

    assert result.returncode == 2
    assert "is not encoded in UTF-8; rename it." in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists()


# Libraries that only servers, migrations and work with cost files need.
HEAVY_LIBRARIES = ("alembic", "boto3", "duckdb", "ibis", "limits", "litestar", "pyarrow", "typst")


def test_a_command_starts_without_the_libraries_of_the_server() -> None:
    modules = sorted(
        {path.partition(":")[0] for name, path in COMMANDS.items() if name not in {"demo", "serve"}}
    )
    program = f"import sys\nimport {', '.join(modules)}\nprint(*sys.modules)"

    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    imported = result.stdout.split()
    assert "nimbill.commands.invoice" in imported
    assert not set(HEAVY_LIBRARIES) & set(imported)
