"""`nimbill serve` when its embedded PostgreSQL dies, in real processes."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import httpx

from tests.command_line import (
    SECONDS_MAX,
    build_environment,
    init_organisation,
    is_database_running,
    wait_until,
)
from tests.plain_http import NO_TLS
from tests.proof.real_server import RealServer, real_server

CLUSTER = Path("postgres", "cluster", "data")


def kill_database(server: RealServer) -> int:
    """Kill the postmaster that this server started, and return its process id."""
    pid = int((server.data / CLUSTER / "postmaster.pid").read_text().splitlines()[0])
    assert b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    os.kill(pid, signal.SIGKILL)
    return pid


def is_ready(server: RealServer) -> bool:
    return httpx.get(f"{server.url}/readyz", timeout=30, verify=NO_TLS).status_code == 200


# Takes several seconds: it starts a server and its database.
def test_a_dead_database_is_restarted_with_a_log_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with real_server(data, build_environment(data), workers=1) as server:
        organisation = init_organisation(server.environment)
        killed = kill_database(server)

        wait_until(lambda: "database_restarted" in server.log.read_text(), "it was not restarted")
        wait_until(lambda: is_ready(server), "the server did not become ready")

        assert server.token(organisation)
        assert httpx.get(f"{server.url}/healthz", timeout=30, verify=NO_TLS).status_code == 200
        assert str(killed) not in (data / CLUSTER / "postmaster.pid").read_text().split()
        lines = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
        (event,) = (json.loads(line) for line in lines if "database_restarted" in line)
        assert event["level"] == "warning"
    assert not is_database_running(data)


# Takes several seconds: it starts a server and its database.
def test_the_server_exits_with_a_clear_message_if_the_restart_fails(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with real_server(data, build_environment(data), workers=1) as server:
        workers = server.workers()
        (data / CLUSTER / "PG_VERSION").write_text("1\n")  # no PostgreSQL can start with it

        kill_database(server)

        assert server.process.wait(SECONDS_MAX) == 1
        assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []
        output = server.log.read_text()
        assert "nimbill: The embedded PostgreSQL died and cannot be started again: " in output
        assert "Traceback" not in output
    assert not is_database_running(data)
