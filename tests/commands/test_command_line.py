"""The command line in real processes: what it prints, its exit codes, how it starts and stops."""

from __future__ import annotations

import json
import re
import secrets
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from nimbill.database.embedded_postgres import superuser_address
from tests.command_line import (
    PASSWORD,
    SECONDS_MAX,
    database_runs,
    environment,
    init,
    init_words,
    started,
    wait_until,
)
from tests.own_database import sql
from tests.proof.real_server import RealServer, children, free_port, nimbill, real_server

KEYS = ["organisation_id", "root_user_id", "username", "client_id", "client_secret"]
GROUP = b'{"billinggroup_id":"A","billinggroup_name":"B","company_name":"C","inv_aggregate":true}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """One real server for the tests that only need some server to be there."""
    data = tmp_path_factory.mktemp("cli") / "data"
    with real_server(data, environment(data), workers=2) as server:
        yield server


def organisations(server: RealServer) -> int:
    address = superuser_address(server.data / "postgres")
    (row,) = sql(address, "SELECT count(*) FROM organisations")
    return int(row[0])


# ── init ──────────────────────────────────────────────────────────────────────────────────────────


def test_two_inits_at_once_on_a_fresh_folder_both_succeed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    env = environment(data)

    both = [started(*init_words(), "--json", env=env, cwd=tmp_path) for _ in range(2)]
    for process in both:  # neither is asked to wait for the other's password
        assert process.stdin is not None
        process.stdin.write(PASSWORD + "\n")
        process.stdin.flush()
    said = [process.communicate(timeout=SECONDS_MAX) for process in both]

    assert [process.returncode for process in both] == [0, 0], said
    made = [json.loads(out) for out, _ in said]
    assert made[0]["organisation_id"] != made[1]["organisation_id"]
    assert not database_runs(data)


def test_init_prints_one_json_object_with_exactly_these_keys(server: RealServer) -> None:
    done = nimbill(*init_words(), "--json", env=server.environment, sent=PASSWORD)

    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    assert list(json.loads(done.stdout)) == KEYS
    assert json.loads(done.stdout)["username"] == "root"


def test_init_without_json_prints_the_same_for_people(server: RealServer) -> None:
    done = nimbill(*init_words(), env=server.environment, sent=PASSWORD)

    assert done.returncode == 0
    assert re.findall(r"^\w+(?= +\S+$)", done.stdout, re.MULTILINE) == KEYS


@pytest.mark.parametrize(
    ("words", "password", "said"),
    [
        (init_words(username="a b c d"), PASSWORD, "username"),
        (init_words(), "x" * 19, "password"),
        (init_words(organisation=" "), PASSWORD, "name"),
    ],
)
def test_what_breaks_a_rule_changes_nothing(
    server: RealServer, words: list[str], password: str, said: str
) -> None:
    before = organisations(server)

    done = nimbill(*words, "--json", env=server.environment, sent=password)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert organisations(server) == before


def test_an_organisation_made_while_the_server_runs_can_log_in_at_once(server: RealServer) -> None:
    token = server.token(init(server.environment, "Made meanwhile"))

    answer = httpx.get(
        f"{server.url}/m/core/billinggroup", headers={"Authorization": f"Bearer {token}"}
    )

    assert (answer.status_code, answer.json()) == (200, [])


# ── serve ─────────────────────────────────────────────────────────────────────────────────────────


def test_serve_says_where_it_answers(server: RealServer) -> None:
    said = f"Nimbill answers at {server.url} "
    wait_until(lambda: said in server.log.read_text(), "it did not say where it answers")


def wait_until_nobody_else_is_let_in(server: RealServer) -> None:
    until = time.monotonic() + 10  # less than a worker gets to stop
    with suppress(OSError):
        while time.monotonic() < until:
            socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
            time.sleep(0.05)


def test_sigterm_lets_the_request_under_way_be_answered(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with real_server(data, environment(data, NIMBILL_BODY_SECONDS="60"), workers=3) as server:
        token = server.token(server.init())
        head = (
            "POST /m/core/billinggroup HTTP/1.1\r\nHost: here\r\n"
            f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(GROUP)}\r\nConnection: close\r\n\r\n"
        )
        assert len(server.workers()) == 3
        assert database_runs(data)

        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as under_way:
            under_way.sendall(head.encode() + GROUP[:20])
            httpx.get(f"{server.url}/healthz")  # by now the first half has been taken in
            server.process.send_signal(signal.SIGTERM)
            wait_until_nobody_else_is_let_in(server)
            under_way.sendall(GROUP[20:])
            answered = b"".join(iter(lambda: under_way.recv(65_536), b""))

        assert answered.startswith(b"HTTP/1.1 200 ")
        assert b'"status":"success"' in answered
        assert server.process.wait(SECONDS_MAX) == 0
    assert not database_runs(data)


def forked(pid: int) -> list[int]:
    """Children that run what their parent runs: the workers, not the programs it starts."""
    return [child for child in children(pid) if command_line(child) == command_line(pid)]


def command_line(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def test_a_worker_told_to_stop_before_it_is_ready_stops_all_the_same(tmp_path: Path) -> None:
    env = environment(tmp_path / "data")
    process = started("serve", "--port", str(free_port()), env=env, cwd=tmp_path)
    until = time.monotonic() + SECONDS_MAX
    while len(forked(process.pid)) < 2 and time.monotonic() < until:
        time.sleep(0.01)

    process.terminate()
    _, said = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0
    assert "refused to gracefully stop" not in said


def test_workers_leave_when_the_process_that_started_them_is_killed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with real_server(data, environment(data), workers=2) as server:
        workers = server.workers()

        server.process.kill()
        server.process.wait(SECONDS_MAX)

        until = time.monotonic() + SECONDS_MAX
        while any(is_alive(pid) for pid in workers) and time.monotonic() < until:
            time.sleep(0.1)
        assert [pid for pid in workers if is_alive(pid)] == []
    init(server.environment)  # the next user stops the database that was left running
    assert not database_runs(data)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_taken_port_is_refused_before_anything_is_started(
    server: RealServer, tmp_path: Path
) -> None:
    for command in ("serve", "demo"):
        env = environment(tmp_path / command)

        done = nimbill(command, "--port", str(server.port), env=env)

        assert done.returncode == 2
        assert done.stderr == (
            f"nimbill: port {server.port} of 127.0.0.1 is taken; --port names another\n"
        )
        assert not (tmp_path / command).exists()


def test_a_database_that_cannot_be_reached_is_named_without_its_password(tmp_path: Path) -> None:
    address = "postgresql://someone:canary@127.0.0.1:1/nimbill"

    done = nimbill("serve", env=environment(tmp_path / "data", NIMBILL_DATABASE_URL=address))

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("nimbill: Cannot use the database at 127.0.0.1: ")
    assert "canary" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_key_file_of_another_installation_is_refused(server: RealServer, tmp_path: Path) -> None:
    other = tmp_path / "key"
    other.write_text(secrets.token_hex(32))
    other.chmod(0o400)
    env = {**server.environment, "NIMBILL_KEY_FILE": str(other)}

    done = nimbill(*init_words(), env=env, sent=PASSWORD)

    assert done.returncode == 2
    assert done.stderr.startswith("nimbill: the key file does not open this database's keys")
    assert len(done.stderr.splitlines()) == 1


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = nimbill("serve", env=environment(tmp_path / "file" / "data"))

    assert done.returncode == 2
    assert str(tmp_path / "file" / "data") in done.stderr
    assert "Traceback" not in done.stderr


def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    done = nimbill("serve", env=environment(tmp_path / "data", NIMBILL_RATE_LIMIT="many"))

    assert done.returncode == 2
    assert done.stderr.startswith("nimbill: NIMBILL_RATE_LIMIT ")
    assert len(done.stderr.splitlines()) == 1


# ── audit verify, and the rest ────────────────────────────────────────────────────────────────────


def verify(server: RealServer, organisation_id: str) -> tuple[int, str]:
    words = ("audit", "verify", "--organisation", organisation_id, "--json")
    done = nimbill(*words, env=server.environment)
    return done.returncode, done.stdout


def test_audit_verify_says_intact_broken_or_unknown_by_its_exit_code(server: RealServer) -> None:
    organisation_id = server.init("Audited")["organisation_id"]

    code, printed = verify(server, organisation_id)

    assert code == 0
    assert json.loads(printed)["intact"] is True

    sql(
        superuser_address(server.data / "postgres"),
        "UPDATE audit_log SET entry = replace(entry, 'Audited', 'Edited') "
        "WHERE organisation_id = $1",
        organisation_id,
    )
    code, printed = verify(server, organisation_id)

    assert code == 1
    assert json.loads(printed)["first_bad_row"] == 1
    assert json.loads(printed)["reason"] == "changed"

    assert verify(server, "org_that_never_was") == (2, "")


@pytest.mark.parametrize("words", [("no-such-command",), ("serve", "--workers", "0")])
def test_what_is_not_understood_is_exit_code_2(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = nimbill(*words, env=environment(tmp_path / "data"))

    assert done.returncode == 2
    assert "Error" in done.stderr
    assert not (tmp_path / "data").exists()


def test_help_names_every_command(tmp_path: Path) -> None:
    done = nimbill("--help", env=environment(tmp_path / "data"))

    assert done.returncode == 0
    for command in ("init", "serve", "demo", "audit"):
        assert re.search(rf"\b{command} +[A-Z]", done.stdout), command
