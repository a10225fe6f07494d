"""Runs a command of the command line in the test process, which saves the start of a new one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

import structlog

from nimbill.commands import command_line
from tests.proof.real_server import environment_for
from tests.running_service import Service


def run_command(
    *arguments: str, env: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Call the program as `python -m nimbill` would, with this environment."""
    output, errors = _OutputOfThisThread(), _OutputOfThisThread()
    logs = structlog.get_config()
    with (
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{stdin}\n".encode()))),
        patch("nimbill.commands.command_line.signal"),
        # for the whole process
        patch("nimbill.commands.command_line.make_files_private"),
        patch("nimbill.commands.command_line.keep_what_is_imported"),
        patch.dict(os.environ, env, clear=True),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        code = _run_main(arguments)
    structlog.configure(**logs)  # the command logs to its own standard error
    return subprocess.CompletedProcess(arguments, code, _read(output), _read(errors))


def service_environment(service: Service, **settings: str) -> dict[str, str]:
    """The environment of a command that uses the database and files of a running service."""
    return environment_for(
        service.settings.data,
        {
            "NIMBILL_DATABASE_URL": service.database_url,
            "NIMBILL_KEY_FILE": str(service.settings.key_file),
            **settings,
        },
    )


def _run_main(arguments: Sequence[str]) -> int:
    try:
        command_line.main(arguments)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return 0


class _OutputOfThisThread(io.TextIOWrapper):
    """Leaves out what a running service logs in its own thread meanwhile."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self._thread_id = threading.get_ident()

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread_id else len(text)


def _read(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
