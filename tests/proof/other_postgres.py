"""A server of another version of PostgreSQL, if the machine has one."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asyncpg import CannotConnectNowError

from nimbill.database.embedded_postgres import Address, bin_folder
from nimbill.database.embedded_postgres.binaries import build_command, clean_environment
from nimbill.database.migrate import OLDEST_VERSION
from tests.proof.real_server import stop
from tests.temporary_database import execute_script

PORT = 5432
USER = "postgres"
SECONDS_MAX = 60
CREATE_OWNER = """
    CREATE ROLE nimbill LOGIN NOSUPERUSER CREATEROLE;
    CREATE ROLE nimbill_app NOLOGIN; GRANT nimbill_app TO nimbill;
"""


def find_other_programs() -> tuple[Path, str] | None:
    """The folder and the version of another PostgreSQL that the product supports."""
    wheel = bin_folder().parents[1]
    folders = [wheel / "pginstall" / "bin", *Path("/").glob("usr/lib/postgresql/*/bin")]
    for folder in folders:
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            version = _read_version(folder)
            if (
                version != _read_version(bin_folder())
                and int(version.split(".")[0]) >= OLDEST_VERSION
            ):
                return folder, version
    return None


def _read_version(folder: Path) -> str:
    """For example 16.14."""
    line = [str(folder / "postgres"), "--version"]
    printed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    return printed.split()[2]


@contextmanager
def other_postgres(folder: Path, programs: Path) -> Iterator[Address]:
    """Yield the superuser's address; only the owner of the folder can connect."""
    data, sockets = folder / "data", folder / "socket"
    sockets.mkdir(mode=0o700)
    arguments = [f"--pgdata={data}", f"--username={USER}", "--auth=trust", "--encoding=UTF8"]
    subprocess.run(
        _build(programs, "initdb", *arguments, "--locale=C", "--no-sync", folder=folder),
        env=clean_environment(),
        capture_output=True,
        check=True,
    )
    settings = ("listen_addresses=", f"unix_socket_directories={sockets}", "fsync=off")
    options = [option for setting in settings for option in ("-c", setting)]
    line = _build(programs, "postgres", "-D", str(data), *options, folder=folder)
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(line, env=clean_environment(), stdout=log, stderr=log)
    try:
        address = Address(str(sockets), PORT, USER, "", "postgres")
        _wait_until_ready(address)
        yield address
    finally:
        stop(server)


def _build(programs: Path, program: str, *arguments: str, folder: Path) -> list[str]:
    """The command line of the product, with the programs of another folder."""
    line = build_command(program, *arguments, folder=folder)
    own = str(bin_folder() / program)
    return [str(programs / program) if part == own else part for part in line]


def _wait_until_ready(address: Address) -> None:
    until = time.monotonic() + SECONDS_MAX
    while True:
        try:
            execute_script(address, CREATE_OWNER)
        except (OSError, CannotConnectNowError):
            assert time.monotonic() < until, "the other PostgreSQL did not start"
            time.sleep(0.1)
        else:
            return
