"""`nimbill serve` in real processes: start, stop, and what it refuses."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.command_line import (
    SECONDS_MAX,
    build_environment,
    init_organisation,
    is_database_running,
    start_command,
    wait_until,
)
from tests.commands.run_command import run_command
from tests.fault_injection.replacements import environment_with
from tests.proof.real_server import RealServer, children, free_port, nimbill, real_server

GROUP = b'{"billinggroup_id":"A","billinggroup_name":"B","company_name":"C","inv_aggregate":true}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    data = tmp_path_factory.mktemp("serve") / "data"
    with real_server(data, build_environment(data), workers=1) as server:
        yield server


def test_the_address_is_printed(server: RealServer) -> None:
    line = f"Nimbill is running at {server.url} "
    wait_until(lambda: line in server.log.read_text(), "the address was not printed")


def wait_until_no_connection_is_accepted(server: RealServer) -> None:
    deadline = time.monotonic() + 10  # less than the time that a worker has for stopping
    with suppress(OSError):
        while time.monotonic() < deadline:
            socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
            time.sleep(0.05)


# Takes several seconds: it starts a server of its own and stops it.
def test_sigterm_lets_a_request_in_progress_finish(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with real_server(data, build_environment(data, NIMBILL_BODY_SECONDS="60"), workers=2) as server:
        token = server.token(init_organisation(server.environment))
        head = (
            "POST /m/core/billinggroup HTTP/1.1\r\nHost: here\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(GROUP)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        assert len(server.workers()) == 2
        assert is_database_running(data)

        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(head.encode())
            # a worker sends this when it reads the body; another request may reach the other worker
            assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(GROUP[:20])
            server.process.send_signal(signal.SIGTERM)
            wait_until_no_connection_is_accepted(server)
            connection.sendall(GROUP[20:])
            response = b"".join(iter(lambda: connection.recv(65_536), b""))

        assert response.startswith(b"HTTP/1.1 200 ")
        assert b'"status":"success"' in response
        assert server.process.wait(SECONDS_MAX) == 0
    assert not is_database_running(data)


def list_workers(pid: int) -> list[int]:
    """Children with the command line of their parent, which leaves out other programs."""
    return [child for child in children(pid) if read_command_line(child) == read_command_line(pid)]


def read_command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


# Takes several seconds: it starts a server of its own.
def test_sigterm_stops_workers_that_are_not_ready_yet(tmp_path: Path) -> None:
    # a busy machine must not kill workers that are still going to stop
    patience = ("application/server.py", "STOP_SECONDS = 15", f"STOP_SECONDS = {2 * SECONDS_MAX}")
    env = build_environment(tmp_path / "data") | environment_with([patience], tmp_path)
    process = start_command("serve", "--port", str(free_port()), env=env, cwd=tmp_path)
    deadline = time.monotonic() + SECONDS_MAX
    while len(list_workers(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)

    process.terminate()
    _, errors = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0
    assert "refused to gracefully stop" not in errors


# Takes several seconds: it starts a server of its own and kills it.
def test_workers_stop_when_their_parent_is_killed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with real_server(data, build_environment(data), workers=2) as server:
        workers = server.workers()

        server.process.kill()
        server.process.wait(SECONDS_MAX)

        deadline = time.monotonic() + SECONDS_MAX
        while any(is_alive(pid) for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [pid for pid in workers if is_alive(pid)] == []
    init_organisation(server.environment)  # the next user stops the database that still runs
    assert not is_database_running(data)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_port_in_use_is_refused_before_anything_starts(
    server: RealServer, tmp_path: Path
) -> None:
    for command in ("serve", "demo"):
        data = tmp_path / command

        result = run_command(command, "--port", str(server.port), env=build_environment(data))

        assert result.returncode == 2
        assert result.stderr == (
            f"nimbill: Port {server.port} of 127.0.0.1 is in use. Choose another one with --port.\n"
        )
        assert not data.exists()


def test_an_unreachable_database_is_named_without_its_password(tmp_path: Path) -> None:
    address = "postgresql://someone:canary@127.0.0.1:1/nimbill"
    env = build_environment(tmp_path / "data", NIMBILL_DATABASE_URL=address)

    result = nimbill("serve", "--port", str(free_port()), env=env)

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("nimbill: Cannot use the database at 127.0.0.1: ")
    assert "canary" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_data_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    env = build_environment(tmp_path / "file" / "data")

    result = run_command("serve", "--port", str(free_port()), env=env)

    assert result.returncode == 2
    assert str(tmp_path / "file" / "data") in result.stderr
    assert "Traceback" not in result.stderr


def test_an_invalid_setting_is_named(tmp_path: Path) -> None:
    env = build_environment(tmp_path / "data", NIMBILL_RATE_LIMIT="many")

    result = run_command("serve", "--port", str(free_port()), env=env)

    assert result.returncode == 2
    assert result.stderr.startswith("nimbill: NIMBILL_RATE_LIMIT ")
    assert len(result.stderr.splitlines()) == 1
