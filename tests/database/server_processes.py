"""Finds and kills the processes of an embedded PostgreSQL server."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path


def server_pid(folder: Path) -> int | None:
    try:
        return int((folder / "cluster/data/postmaster.pid").read_text().split("\n")[0])
    except FileNotFoundError:
        return None


def kill_server(folder: Path) -> None:
    """Kill all server processes at once, like a power loss."""
    postmaster = server_pid(folder)
    assert postmaster is not None
    listing = subprocess.check_output(["ps", "-A", "-o", "pid=,ppid="], text=True)
    pairs = [line.split() for line in listing.splitlines()]
    children = [int(pid) for pid, parent in pairs if int(parent) == postmaster]
    assert children
    for pid in (postmaster, *children):
        with suppress(ProcessLookupError):  # a child may have ended by itself
            os.kill(pid, signal.SIGKILL)
