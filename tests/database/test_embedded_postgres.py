"""The embedded PostgreSQL: first user starts it, last user stops it, crashes do not lose data."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

import nimbill.database.embedded_postgres as module
from nimbill.database.embedded_postgres import (
    Address,
    EmbeddedPostgresError,
    bin_folder,
    binaries,
    embedded_postgres,
    restart_if_dead,
    superuser_address,
)
from nimbill.database.embedded_postgres.locks import locked, open_lock, try_lock
from tests.command_line import wait_until
from tests.database.server_processes import kill_server, server_pid
from tests.temporary_database import execute_sql

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
NOBODY = 65534
CONFIGURATION_FILES = ("postgresql.conf", "postgresql.auto.conf")
StartUser = Callable[[Path], subprocess.Popen[str]]

# Prints "in" when it uses the server, and exits at the end of its input.
USER_SCRIPT = """
import os, sys
from pathlib import Path
from nimbill.database.embedded_postgres import embedded_postgres
with embedded_postgres(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""
# Exits without leaving the block, like a killed process.
ABORTING_SCRIPT = USER_SCRIPT.replace("sys.stdin.read()", "os._exit(0)")


@pytest.fixture
def new_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that does not exist yet."""
    folder = tmp_path / "db"
    yield folder
    assert server_pid(folder) is None, "the server is still running"


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cluster, created once: initdb takes longer than all else here."""
    folder = tmp_path_factory.mktemp("shared") / "db"
    enter_and_leave(folder)
    return folder


@pytest.fixture
def folder(shared_folder: Path) -> Iterator[Path]:
    """A folder with a cluster and no running server; changes of its configuration are undone."""
    files = [shared_folder / "cluster/data" / name for name in CONFIGURATION_FILES]
    contents = [file.read_bytes() for file in files]
    yield shared_folder
    for file, content in zip(files, contents, strict=True):
        file.write_bytes(content)
    assert server_pid(shared_folder) is None, "the server is still running"


@pytest.fixture
def start_user() -> Iterator[StartUser]:
    """Starts another process that uses a folder."""
    users: list[subprocess.Popen[str]] = []

    def start(folder: Path) -> subprocess.Popen[str]:
        line = [sys.executable, "-c", USER_SCRIPT, str(folder)]
        pipe = subprocess.PIPE
        users.append(subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True, env=ENVIRONMENT))
        return users[-1]

    yield start
    for process in users:
        end_user(process)


def wait_until_in(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"


def end_user(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=60)


def fetch_value(address: Address, stmt: str) -> Any:
    return execute_sql(address, stmt)[0][0]


def enter_and_leave(folder: Path) -> None:
    with embedded_postgres(folder):
        pass


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def running_process() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "60"])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_the_owner_logs_in_by_password_only(folder: Path) -> None:
    with embedded_postgres(folder) as address:
        assert fetch_value(address, "SELECT current_user::text") == "nimbill"
        assert fetch_value(address, "SHOW server_version").startswith("18.")
        for login in (address, superuser_address(folder)):
            with pytest.raises(asyncpg.InvalidPasswordError):
                fetch_value(replace(login, password="wrong"), "SELECT 1")
        assert address.password not in repr(address)


def test_the_owner_is_not_a_superuser(folder: Path) -> None:
    rights = "SELECT ARRAY[rolsuper, rolcreaterole] FROM pg_roles WHERE rolname = current_user"
    owner = "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = 'nimbill'"
    with embedded_postgres(folder) as address:
        assert fetch_value(address, rights) == [False, True]
        assert fetch_value(address, owner) == "nimbill"
        assert fetch_value(superuser_address(folder), rights) == [True, True]


def test_durability_settings_override_configuration_files(folder: Path) -> None:
    with (folder / "cluster/data/postgresql.auto.conf").open("a") as file:
        file.write("fsync = off\nlisten_addresses = '*'\n")
    expected = {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "data_checksums": "on",
        "listen_addresses": "",
        "server_encoding": "UTF8",
        "password_encryption": "scram-sha-256",
    }
    with embedded_postgres(folder) as address:
        assert {name: fetch_value(address, f"SHOW {name}") for name in expected} == expected


def test_a_second_process_shares_the_server_and_the_last_user_stops_it(
    folder: Path, start_user: StartUser
) -> None:
    with embedded_postgres(folder) as address:
        pid = server_pid(folder)
        other = start_user(folder)
        wait_until_in(other)
        assert server_pid(folder) == pid

    assert fetch_value(address, "SELECT 1") == 1
    end_user(other)
    assert server_pid(folder) is None


def test_two_processes_may_create_the_cluster_at_once(
    new_folder: Path, start_user: StartUser
) -> None:
    first, second = start_user(new_folder), start_user(new_folder)

    wait_until_in(first)
    wait_until_in(second)


def test_threads_share_one_server(folder: Path) -> None:
    all_in = threading.Barrier(4)

    def use(_: int) -> int | None:
        with embedded_postgres(folder):
            all_in.wait(timeout=60)
            return server_pid(folder)

    with ThreadPoolExecutor(4) as pool:
        pids = set(pool.map(use, range(4)))

    assert len(pids) == 1
    assert None not in pids


def test_a_killed_user_does_not_stop_the_server(folder: Path, start_user: StartUser) -> None:
    killed, other = start_user(folder), start_user(folder)
    wait_until_in(killed)
    wait_until_in(other)
    pid = server_pid(folder)

    killed.kill()
    killed.wait()

    with embedded_postgres(folder) as address:
        assert fetch_value(address, "SELECT 1") == 1
        assert server_pid(folder) == pid
    assert server_pid(folder) == pid
    end_user(other)
    assert server_pid(folder) is None


def test_a_killed_server_is_restarted_with_its_data(folder: Path) -> None:
    with embedded_postgres(folder) as address:
        execute_sql(address, "CREATE TABLE paid AS SELECT 42 AS amount")

        kill_server(folder)

        with embedded_postgres(folder) as restarted:
            assert fetch_value(restarted, "SELECT amount FROM paid") == 42


@pytest.mark.parametrize("content", ["{pid}\n", ""])
def test_a_stale_pid_file_does_not_prevent_the_start(folder: Path, content: str) -> None:
    with embedded_postgres(folder) as address:
        kill_server(folder)
    with running_process() as pid:
        (folder / "cluster/data/postmaster.pid").write_text(content.format(pid=pid))
        Path(address.host, ".s.PGSQL.5432.lock").write_text(content.format(pid=pid))

        with embedded_postgres(folder) as restarted:
            assert fetch_value(restarted, "SELECT 1") == 1
        os.kill(pid, 0)  # the unrelated process still exists


# Takes seconds: initdb runs twice.
def test_an_interrupted_creation_is_repeated_from_the_start(
    new_folder: Path, start_user: StartUser
) -> None:
    interrupted = start_user(new_folder)
    wait_until((new_folder / "cluster.new/data/base").exists, "no new cluster", pause=0.002)

    interrupted.kill()
    interrupted.wait()

    assert not (new_folder / "cluster").exists()
    with embedded_postgres(new_folder) as address:
        assert fetch_value(address, "SELECT 1") == 1
    assert not (new_folder / "cluster.new").exists()


@pytest.mark.parametrize("name", ["long" * 30, "a, comma", "sp ace'$HOME%41&:ü+#?\\"])
def test_any_folder_name_works(tmp_path: Path, name: str) -> None:
    async def fetch_database_name(url: str) -> Any:
        engine = create_async_engine(url)
        try:
            async with engine.connect() as connection:
                return await connection.scalar(text("SELECT current_database()::text"))
        finally:
            await engine.dispose()

    with embedded_postgres(tmp_path / name) as address:
        assert permissions(Path(address.host)) == 0o700
        assert asyncio.run(fetch_database_name(address.url)) == "nimbill"
    assert server_pid(tmp_path / name) is None
    assert tmp_path in Path(address.host).parents or not Path(address.host).exists()


def test_files_are_private_and_the_parent_folder_is_unchanged(tmp_path: Path) -> None:
    parent = tmp_path / "private"
    parent.mkdir(mode=0o700)
    folder = parent / "db"
    folder.mkdir(mode=0o755)
    with embedded_postgres(folder):
        assert permissions(folder) == 0o700
        passwords = [folder / "cluster/nimbill.password", folder / "cluster/postgres.password"]
        for path in (*passwords, *folder.glob("*.lock"), *folder.glob("log/*")):
            assert permissions(path) == 0o600, path
        assert all(path.stat().st_uid == os.geteuid() for path in folder.rglob("*"))
    assert permissions(parent) == 0o700


def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "other").touch()

    with pytest.raises(EmbeddedPostgresError, match="contains other files"):
        enter_and_leave(folder)
    assert permissions(folder) == 0o755


def test_the_server_keeps_no_pipe_open_and_receives_no_ctrl_c(folder: Path) -> None:
    line = [sys.executable, "-c", ABORTING_SCRIPT, str(folder)]

    result = subprocess.run(
        line, capture_output=True, text=True, timeout=60, check=True, env=ENVIRONMENT
    )

    assert (result.stdout, result.stderr) == ("in\n", "")
    pid = server_pid(folder)
    assert pid is not None
    assert os.getsid(pid) != os.getsid(0)
    with embedded_postgres(folder):
        assert server_pid(folder) == pid


def test_a_failed_start_reports_the_reason(folder: Path) -> None:
    with (folder / "cluster/data/postgresql.conf").open("a") as file:
        file.write("nonsense = 1\n")

    with pytest.raises(EmbeddedPostgresError, match=r'did not start[\s\S]*parameter "nonsense"'):
        enter_and_leave(folder)


def test_waiting_for_the_start_lock_has_a_time_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_LOCK_WAIT_SECONDS_MAX", 0.1)

    with (
        locked(folder / "start.lock", wait_seconds_max=1),
        pytest.raises(EmbeddedPostgresError, match="Another process"),
    ):
        enter_and_leave(folder)


def has_no_server_process(folder: Path) -> bool:
    with open_lock(folder / "server.lock") as server_lock:
        return try_lock(server_lock, shared=False)


def test_restarting_and_stopping_need_the_start_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_LOCK_WAIT_SECONDS_MAX", 0.1)
    other_process = partial(locked, folder / "start.lock", wait_seconds_max=1)
    user = embedded_postgres(folder)
    user.__enter__()
    kill_server(folder)
    wait_until(lambda: has_no_server_process(folder), "the server has not ended")

    with other_process(), pytest.raises(EmbeddedPostgresError, match="Another process"):
        restart_if_dead(folder)
    assert restart_if_dead(folder)
    with other_process():
        user.__exit__(None, None, None)

    assert server_pid(folder) is not None, "the other process may be about to use the server"
    enter_and_leave(folder)


def test_without_user_namespaces_root_gets_instructions(
    new_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "_has_name", lambda uid: False)
    monkeypatch.setattr(binaries, "_namespace", lambda: ["false"])

    with pytest.raises(EmbeddedPostgresError, match="NIMBILL_DATABASE_URL"):
        enter_and_leave(new_folder)


def test_pg_dump_is_available(folder: Path) -> None:
    with embedded_postgres(folder):
        address = superuser_address(folder)
        connection = ["-h", address.host, "-p", str(address.port), "-U", address.user]
        dump = subprocess.run(
            [bin_folder() / "pg_dump", *connection, "--no-password", address.database],
            env={**os.environ, "PGPASSWORD": address.password},
            capture_output=True,
            text=True,
            check=True,
        )

    assert "PostgreSQL database dump complete" in dump.stdout
