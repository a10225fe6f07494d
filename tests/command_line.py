"""Run the command line in real processes with their own environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.commands.run_command import run_command
from tests.proof.real_server import environment_for

PASSWORD = "correct horse 7"
SECONDS_MAX = 180


def build_environment(data: Path, **options: str) -> dict[str, str]:
    """Build an environment without settings of this machine; data goes to this folder."""
    return environment_for(data, options)


def init_arguments(username: str = "root", organisation: str = "Test") -> list[str]:
    return ["init", "--organisation", organisation, "--username", username, "--password-stdin"]


def init_organisation(env: Mapping[str, str], organisation: str = "Test") -> dict[str, str]:
    """Create an organisation and return the JSON object that the command prints.

    The command runs in this process, but in a thread: the driver of browsers has an event loop.
    """
    arguments = (*init_arguments(organisation=organisation), "--json")
    with ThreadPoolExecutor() as threads:
        result = threads.submit(run_command, *arguments, env=env, stdin=PASSWORD).result()
    assert result.returncode == 0, result.stderr
    organisation_json: dict[str, str] = json.loads(result.stdout)
    return organisation_json


def start_command(
    *arguments: str, env: Mapping[str, str], cwd: Path, **options: Any
) -> subprocess.Popen[str]:
    """Start a command in its own session, as a terminal does, and do not wait for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "nimbill", *arguments],
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def wait_until(condition: Callable[[], bool], description: str, *, pause: float = 0.1) -> None:
    """Poll for at most three minutes."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, description
        time.sleep(pause)


def is_database_running(data: Path) -> bool:
    """Return whether a process of the embedded server holds the lock file."""
    lock = (data / "postgres" / "server.lock").stat()
    lock_id = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}"
    return lock_id in Path("/proc/locks").read_text()
