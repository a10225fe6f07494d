"""The embedded PostgreSQL starts once, is shared, is stopped by the last one out, and survives."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
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
    superuser_address,
)
from nimbill.database.embedded_postgres.locks import locked
from tests.command_line import wait_until

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
NOBODY = 65534
NewUser = Callable[[], subprocess.Popen[str]]

# Says so when it is in, and stays until its input ends.
USER = """
import os, sys
from pathlib import Path
from nimbill.database.embedded_postgres import embedded_postgres
with embedded_postgres(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""
# Leaves without a word, as a killed process does.
DESERTER = USER.replace("sys.stdin.read()", "os._exit(0)")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "db"
    yield place
    assert server_pid(place) is None, "a server was left running"


@pytest.fixture
def user(folder: Path) -> Iterator[NewUser]:
    """Starts another process that uses the folder."""
    users: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        line = [sys.executable, "-c", USER, str(folder)]
        pipe = subprocess.PIPE
        users.append(subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True, env=ENVIRONMENT))
        return users[-1]

    yield begin
    for process in users:
        leave(process)


def is_in(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "in\n"


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=30)


def ask(address: Address, question: str) -> Any:
    async def answer() -> Any:
        connection = await asyncpg.connect(
            host=address.host,
            port=address.port,
            user=address.user,
            password=address.password,
            database=address.database,
        )
        try:
            return await connection.fetchval(question)
        finally:
            await connection.close()

    return asyncio.run(answer())


def enter_and_leave(folder: Path) -> None:
    with embedded_postgres(folder):
        pass


def server_pid(folder: Path) -> int | None:
    try:
        return int((folder / "cluster/data/postmaster.pid").read_text().split("\n")[0])
    except FileNotFoundError:
        return None


def kill_server(folder: Path) -> None:
    """All of its processes at once, as a power loss does."""
    postmaster = server_pid(folder)
    assert postmaster is not None
    listing = subprocess.check_output(["ps", "-A", "-o", "pid=,ppid="], text=True)
    pairs = [line.split() for line in listing.splitlines()]
    children = [int(pid) for pid, parent in pairs if int(parent) == postmaster]
    assert children
    for pid in (postmaster, *children):
        with suppress(ProcessLookupError):  # a child may have ended by itself
            os.kill(pid, signal.SIGKILL)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def living_process() -> Iterator[int]:
    process = subprocess.Popen(["sleep", "60"])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_owner_is_let_in_by_password_only(folder: Path) -> None:
    with embedded_postgres(folder) as address:
        assert ask(address, "SELECT current_user::text") == "nimbill"
        assert ask(address, "SHOW server_version").startswith("18.")
        for stranger in (address, superuser_address(folder)):
            with pytest.raises(asyncpg.InvalidPasswordError):
                ask(replace(stranger, password="wrong"), "SELECT 1")
        assert address.password not in repr(address)


def test_owner_is_no_superuser(folder: Path) -> None:
    rights = "SELECT ARRAY[rolsuper, rolcreaterole] FROM pg_roles WHERE rolname = current_user"
    owner = "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = 'nimbill'"
    with embedded_postgres(folder) as address:
        assert ask(address, rights) == [False, True]
        assert ask(address, owner) == "nimbill"
        assert ask(superuser_address(folder), rights) == [True, True]


def test_settings_keep_what_is_committed(folder: Path) -> None:
    enter_and_leave(folder)
    # A setting made by hand does not win.
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
        assert {name: ask(address, f"SHOW {name}") for name in expected} == expected


def test_second_process_shares_and_last_one_out_stops(folder: Path, user: NewUser) -> None:
    with embedded_postgres(folder) as address:
        pid = server_pid(folder)
        other = user()
        assert is_in(other)
        assert server_pid(folder) == pid
    assert ask(address, "SELECT 1") == 1
    leave(other)
    assert server_pid(folder) is None


def test_two_processes_start_at_once(folder: Path, user: NewUser) -> None:
    first, second = user(), user()
    assert is_in(first)
    assert is_in(second)


def test_threads_share(folder: Path) -> None:
    together = threading.Barrier(4)

    def use(_: int) -> int | None:
        with embedded_postgres(folder):
            together.wait(timeout=30)
            return server_pid(folder)

    with ThreadPoolExecutor(4) as pool:
        pids = set(pool.map(use, range(4)))
    assert len(pids) == 1
    assert None not in pids


def test_killed_user_stops_nobody(folder: Path, user: NewUser) -> None:
    killed, other = user(), user()
    assert is_in(killed)
    assert is_in(other)
    pid = server_pid(folder)
    killed.kill()
    killed.wait()
    with embedded_postgres(folder) as address:
        assert ask(address, "SELECT 1") == 1
        assert server_pid(folder) == pid
    assert server_pid(folder) == pid
    leave(other)
    assert server_pid(folder) is None


def test_killed_server_is_started_again_with_its_data(folder: Path) -> None:
    with embedded_postgres(folder) as address:
        ask(address, "CREATE TABLE paid AS SELECT 42 AS amount")
        kill_server(folder)
        with embedded_postgres(folder) as again:
            assert ask(again, "SELECT amount FROM paid") == 42


@pytest.mark.parametrize("left", ["{pid}\n", ""])
def test_stale_pid_of_a_living_process_does_not_hinder(folder: Path, left: str) -> None:
    with embedded_postgres(folder) as address:
        kill_server(folder)
    with living_process() as pid:
        (folder / "cluster/data/postmaster.pid").write_text(left.format(pid=pid))
        Path(address.host, ".s.PGSQL.5432.lock").write_text(left.format(pid=pid))
        with embedded_postgres(folder) as again:
            assert ask(again, "SELECT 1") == 1
        os.kill(pid, 0)  # and it was not signalled


def test_interrupted_making_leaves_nothing_half_made(folder: Path, user: NewUser) -> None:
    interrupted = user()
    wait_until((folder / "cluster.new/data/base").exists, "no cluster is made", pause=0.002)
    interrupted.kill()
    interrupted.wait()
    assert not (folder / "cluster").exists()
    with embedded_postgres(folder) as address:
        assert ask(address, "SELECT 1") == 1
    assert not (folder / "cluster.new").exists()


@pytest.mark.parametrize("name", ["long" * 30, "a, comma", "sp ace'$HOME%41&:ü+#?\\"])
def test_any_folder_name_works(tmp_path: Path, name: str) -> None:
    async def answer(url: str) -> Any:
        engine = create_async_engine(url)
        try:
            async with engine.connect() as connection:
                return await connection.scalar(text("SELECT current_database()::text"))
        finally:
            await engine.dispose()

    with embedded_postgres(tmp_path / name) as address:
        assert mode(Path(address.host)) == 0o700
        assert asyncio.run(answer(address.url)) == "nimbill"
    assert server_pid(tmp_path / name) is None
    assert tmp_path in Path(address.host).parents or not Path(address.host).exists()


def test_files_are_private_and_parents_untouched(tmp_path: Path) -> None:
    parent = tmp_path / "private"
    parent.mkdir(mode=0o700)
    folder = parent / "db"
    folder.mkdir(mode=0o755)
    with embedded_postgres(folder):
        assert mode(folder) == 0o700
        secret = [folder / "cluster/nimbill.password", folder / "cluster/postgres.password"]
        for path in (*secret, *folder.glob("*.lock"), *folder.glob("log/*")):
            assert mode(path) == 0o600, path
        assert all(path.stat().st_uid == os.geteuid() for path in folder.rglob("*"))
    assert mode(parent) == 0o700


def test_folder_with_other_files_is_not_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    (folder / "letter").touch()
    with pytest.raises(EmbeddedPostgresError, match="holds other files"):
        enter_and_leave(folder)
    assert mode(folder) == 0o755


def test_server_keeps_no_pipe_open_and_hears_no_ctrl_c(folder: Path) -> None:
    line = [sys.executable, "-c", DESERTER, str(folder)]
    answer = subprocess.run(
        line, capture_output=True, text=True, timeout=20, check=True, env=ENVIRONMENT
    )
    assert (answer.stdout, answer.stderr) == ("in\n", "")
    pid = server_pid(folder)
    assert pid is not None
    assert os.getsid(pid) != os.getsid(0)
    with embedded_postgres(folder):
        assert server_pid(folder) == pid


def test_failed_start_tells_why(folder: Path) -> None:
    enter_and_leave(folder)
    with (folder / "cluster/data/postgresql.conf").open("a") as file:
        file.write("nonsense = 1\n")
    with pytest.raises(EmbeddedPostgresError, match=r'did not start[\s\S]*parameter "nonsense"'):
        enter_and_leave(folder)


def test_waiting_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_LOCK_WAIT_SECONDS_MAX", 0.1)
    folder.mkdir()
    with (
        locked(folder / "start.lock", wait_seconds_max=1),
        pytest.raises(EmbeddedPostgresError, match="Another process"),
    ):
        enter_and_leave(folder)


def test_without_namespaces_root_is_told_what_to_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binaries, "_has_name", lambda uid: False)
    monkeypatch.setattr(binaries, "_namespace", lambda: ["false"])
    with pytest.raises(EmbeddedPostgresError, match="NIMBILL_DATABASE_URL"):
        enter_and_leave(folder)


def test_other_programs_are_at_hand(folder: Path) -> None:
    with embedded_postgres(folder):
        address = superuser_address(folder)
        place = ["-h", address.host, "-p", str(address.port), "-U", address.user]
        dump = subprocess.run(
            [bin_folder() / "pg_dump", *place, "--no-password", address.database],
            env={**os.environ, "PGPASSWORD": address.password},
            capture_output=True,
            text=True,
            check=True,
        )
    assert "PostgreSQL database dump complete" in dump.stdout


def as_nobody(python: str, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
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


def python_for_nobody() -> str:
    """A Python that an ordinary user may run with our packages, when we are root."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    system = shutil.which(version, path="/usr/local/bin:/usr/bin")
    for python in (sys.executable, system) if os.geteuid() == 0 else ():
        with suppress(OSError, subprocess.CalledProcessError):
            as_nobody(python or "false", "import nimbill.database.embedded_postgres")
            return python or ""
    return ""


if PYTHON_FOR_NOBODY := python_for_nobody():

    def test_ordinary_user_needs_no_namespace() -> None:
        # Not tmp_path: that is private to root.
        with tempfile.TemporaryDirectory() as place:
            os.chown(place, NOBODY, NOBODY)
            folder = Path(place, "db")
            assert as_nobody(PYTHON_FOR_NOBODY, USER, str(folder)).stdout == "in\n"
            assert (folder / "cluster/data").stat().st_uid == NOBODY
            assert server_pid(folder) is None
