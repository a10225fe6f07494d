"""Kills every process of an embedded PostgreSQL server, and says how durable its commits are."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from nimbill.database.embedded_postgres import Address
from tests.database.server_processes import server_pid
from tests.proof.real_server import children
from tests.temporary_database import execute_sql

DURABLE = ("fsync", "synchronous_commit", "full_page_writes")
# of jobs, at once instead of after a minute
EXPIRE_LEASES = "UPDATE jobs SET leased_until = now() WHERE state = 'running'"


def find_unsafe_settings(superuser: Address) -> list[str]:
    """Settings with which a power cut loses or damages data."""
    values = {name: execute_sql(superuser, f"SHOW {name}")[0][0] for name in DURABLE}
    return [f"{name} is {value}" for name, value in values.items() if value != "on"]


def stop_postmaster(folder: Path) -> int:
    """Only that of this cluster; it cannot start other processes any more."""
    postmaster = server_pid(folder)
    assert postmaster is not None
    assert Path(f"/proc/{postmaster}/cwd").samefile(folder / "cluster/data")
    os.kill(postmaster, signal.SIGSTOP)
    return postmaster


def kill_stopped(postmaster: int) -> int:
    """Kill it with its children, and wait for their end; return their number."""
    pids = [postmaster, *children(postmaster)]
    for pid in pids:
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(pid, signal.SIGKILL)
    wait_until_ended(pids)
    return len(pids)


def wait_until_ended(pids: list[int]) -> None:
    until = time.monotonic() + 30
    while any(_is_running(pid) for pid in pids):
        assert time.monotonic() < until, "a killed process is still there"
        time.sleep(0.005)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
