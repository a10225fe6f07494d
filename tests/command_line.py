"""The command line as tests use it: real processes, in an environment of their own."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.proof.real_server import environment_for, nimbill

PASSWORD = "correct horse 7"
SECONDS_MAX = 180


@cache
def compiled() -> str:
    """Where processes keep their compiled modules, so that a dozen starts compile them once."""
    folder = tempfile.mkdtemp(prefix="nimbill-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment(data: Path, **more: str) -> dict[str, str]:
    """Nothing of the caller's own installation; the data goes into this folder."""
    quick = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": compiled()}
    return environment_for(data, more) | quick


def init_words(username: str = "root", organisation: str = "Test") -> list[str]:
    return ["init", "--organisation", organisation, "--username", username, "--password-stdin"]


def init(env: Mapping[str, str], organisation: str = "Test") -> dict[str, str]:
    """A new organisation: the one JSON object that is printed."""
    done = nimbill(*init_words(organisation=organisation), "--json", env=env, sent=PASSWORD)
    assert done.returncode == 0, done.stderr
    made: dict[str, str] = json.loads(done.stdout)
    return made


def started(*words: str, env: Mapping[str, str], cwd: Path, **more: Any) -> subprocess.Popen[str]:
    """A command that goes on while the test does; in a session of its own, as from a terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", "nimbill", *words],
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **more,
    )


def wait_until(holds: Callable[[], bool], what: str, *, pause: float = 0.1) -> None:
    """Until it holds; a minute is long enough for anything on a busy machine."""
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(pause)


def database_runs(data: Path) -> bool:
    """Whether a process of the embedded server is left: each of them holds its lock file."""
    lock = (data / "postgres" / "server.lock").stat()
    wanted = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}:{lock.st_ino}"
    return wanted in Path("/proc/locks").read_text()
