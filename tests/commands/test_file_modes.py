"""The data folder and everything in it is private, whatever the umask."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command_line import (
    PASSWORD,
    SECONDS_MAX,
    build_environment,
    init_arguments,
    start_command,
)
from tests.imports.aws_reports import report_line, write_report
from tests.private_modes import list_open_files


def run(*arguments: str, data: Path, umask: int) -> str:
    env = build_environment(data)
    process = start_command(*arguments, env=env, cwd=data.parent, umask=umask)
    output, errors = process.communicate(PASSWORD + "\n", timeout=SECONDS_MAX)
    assert process.returncode == 0, errors
    return output


# Takes several seconds: each command starts a database.
def test_commands_create_private_folders_and_files_without_a_umask(tmp_path: Path) -> None:
    data, report = tmp_path / "nimbill", tmp_path / "september.csv"
    write_report(report, [report_line("1.5")])

    umask = 0o000
    created = json.loads(run(*init_arguments(), "--json", data=data, umask=umask))
    organisation = ["--organisation", created["organisation_id"]]
    run("import", str(report), "--vendor", "aws", *organisation, data=data, umask=umask)
    run("audit", "verify", *organisation, data=data, umask=umask)

    assert {"key", "lake", "postgres"} <= {path.name for path in data.iterdir()}
    assert list_open_files(data) == []
