"""The embedded PostgreSQL runs for an ordinary user without a user namespace."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.database.server_processes import server_pid
from tests.database.test_embedded_postgres import ENVIRONMENT, NOBODY, USER_SCRIPT


def run_as_nobody(python: str, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-c", script, *arguments],
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )


def find_python_for_nobody() -> str:
    """A Python that the user nobody can run; empty unless the tests run as root."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    system = shutil.which(version, path="/usr/local/bin:/usr/bin")
    for python in (sys.executable, system) if os.geteuid() == 0 else ():
        with suppress(OSError, subprocess.CalledProcessError):
            run_as_nobody(python or "false", "import nimbill.database.embedded_postgres")
            return python or ""
    return ""


if PYTHON_FOR_NOBODY := find_python_for_nobody():
    # Takes seconds: initdb runs as another user.
    def test_an_ordinary_user_needs_no_namespace() -> None:
        # Not tmp_path, which is private to root.
        with tempfile.TemporaryDirectory() as parent:
            os.chown(parent, NOBODY, NOBODY)
            folder = Path(parent, "db")
            assert run_as_nobody(PYTHON_FOR_NOBODY, USER_SCRIPT, str(folder)).stdout == "in\n"
            assert (folder / "cluster/data").stat().st_uid == NOBODY
            assert server_pid(folder) is None
