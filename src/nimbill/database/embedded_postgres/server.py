"""Starts and stops the server, and tells whether it runs."""

from __future__ import annotations

import hashlib
import logging
import os
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from nimbill.database.embedded_postgres.binaries import (
    EmbeddedPostgresError,
    clean_environment,
    command,
)
from nimbill.database.embedded_postgres.layout import Layout
from nimbill.database.embedded_postgres.locks import PAUSE_SECONDS, open_lock, try_lock

READY_SECONDS_MAX = 120  # replaying the log after a power loss takes a while
STOP_SECONDS_MAX = 60
UNKNOWN_SECONDS_MAX = 10
PID_FILE_LINES = 8
PORT = 5432  # names the socket file; nothing listens on the network
SSL_REQUEST = struct.pack("!ii", 8, 80877103)  # "do you speak TLS?"; the answer is one letter
SOCKET_PATH_BYTES_MAX = 103  # macOS allows 103, Linux 107

SETTINGS = {
    # A committed invoice survives a power loss. Given on the command line, these win over any
    # configuration file.
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "password_encryption": "scram-sha-256",
    "max_connections": "150",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    # One file for each weekday, overwritten a week later.
    "logging_collector": "on",
    "log_destination": "stderr",
    "log_filename": "postgres-%a.log",
    "log_file_mode": "0600",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
    "log_timezone": "UTC",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Socket:
    folder: Path
    port: int

    def answers(self) -> bool:
        """Asks a question every server answers before any password.

        Connecting is not enough: a server that is just being killed still takes connections, and
        its socket file stays behind.
        """
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
            attempt.settimeout(5)
            try:
                attempt.connect(str(self.folder / f".s.PGSQL.{self.port}"))
                attempt.sendall(SSL_REQUEST)
                return attempt.recv(1) in {b"N", b"S"}
            except OSError:
                return False


def ready_socket(layout: Layout) -> Socket | None:
    """Where the server answers, once it is ready; taken from its pid file, not from our guess."""
    lines = _pid_file_lines(layout)
    if len(lines) < PID_FILE_LINES or lines[7].strip() != "ready":
        return None
    found = Socket(Path(lines[4]), int(lines[3]))
    if not found.answers():
        return None
    _check_private(found.folder)
    return found


def wait_for_ready_or_free(layout: Layout) -> BinaryIO | None:
    """None once the server is ready; or the server lock, when no process of a server is left."""
    deadline = time.monotonic() + READY_SECONDS_MAX
    while True:
        server_lock = open_lock(layout.server_lock)
        if try_lock(server_lock, shared=False):
            return server_lock
        server_lock.close()
        if ready_socket(layout) is not None:
            return None
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"PostgreSQL in {layout.folder} has not been ready for {READY_SECONDS_MAX} "
                f"seconds. The end of its log:\n{layout.log_tail()}"
            )
        time.sleep(PAUSE_SECONDS)


def start(layout: Layout, server_lock: BinaryIO) -> None:
    """Returns at once; the server takes the lock over and may still fail."""
    sockets = _socket_folder(layout)
    _forget_last_run(layout, sockets)
    settings = {
        **SETTINGS,
        "log_directory": str(layout.logs),
        "unix_socket_directories": f'"{sockets}"',
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    line = command("postgres", "-D", str(layout.data), *options, folder=layout.data)
    with layout.start_log.open("wb") as start_log:
        layout.start_log.chmod(0o600)
        # The shell goes away at once, so the server is nobody's child: it becomes no zombie
        # when another process stops it. In a session of its own it hears no Ctrl-C, and with
        # its output in a file it keeps no pipe of ours open.
        subprocess.run(  # noqa: S603 - every word is ours
            ["/bin/sh", "-c", '"$@" &', "sh", *line],
            stdin=subprocess.DEVNULL,
            stdout=start_log,
            stderr=start_log,
            env=clean_environment(),
            cwd=layout.folder,
            pass_fds=(server_lock.fileno(),),
            start_new_session=True,
            check=True,
        )


def stop(layout: Layout) -> None:
    """Ends sessions that are left and returns when the last process of the server is gone."""
    asked: int | None = None
    found = ready_socket(layout)
    deadline = time.monotonic() + UNKNOWN_SECONDS_MAX
    with open_lock(layout.server_lock) as server_lock:
        while not try_lock(server_lock, shared=False):
            # Asked for again while unknown: a server just started has not written its pid yet.
            if asked is None and (asked := _ask_to_stop(layout)) is not None:
                deadline = time.monotonic() + STOP_SECONDS_MAX
            if time.monotonic() > deadline:
                break
            time.sleep(PAUSE_SECONDS)
        else:
            if found is not None and found.folder != layout.sockets:
                with suppress(OSError):
                    found.folder.rmdir()  # under the temporary folder nobody else tidies up
            return
    if asked is None:
        # Seen from another container the server has no process to signal.
        log.warning("The PostgreSQL in %s was not started here and is left running", layout.folder)
        return
    raise EmbeddedPostgresError(
        f"PostgreSQL in {layout.folder} (process {asked}) has not stopped for {STOP_SECONDS_MAX} "
        f"seconds. The end of its log:\n{layout.log_tail()}"
    )


def _ask_to_stop(layout: Layout) -> int | None:
    pid = _postmaster(layout)
    if pid is None:
        return None
    try:
        os.kill(pid, signal.SIGINT)  # "fast": sessions are ended, not waited for
    except ProcessLookupError:
        return None
    return pid


def _pid_file_lines(layout: Layout) -> list[str]:
    try:
        return os.fsdecode(layout.pid_file.read_bytes()).split("\n")
    except FileNotFoundError:
        return []


def _postmaster(layout: Layout) -> int | None:
    """The process of the pid file, if it is a server on our data and not a later process."""
    first = _pid_file_lines(layout)[:1]
    if not first or not first[0].strip().isdigit():
        return None
    pid = int(first[0])
    return pid if _serves(pid, layout.data) else None


def _serves(pid: int, data: Path) -> bool:
    process = Path("/proc", str(pid))
    try:
        if Path("/proc/self").exists():
            # A server works in its data folder, however the folder was spelt at its start.
            named = b"postgres" in (process / "cmdline").read_bytes()
            return named and (process / "cwd").samefile(data)
    except OSError:
        return False
    line = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    answer = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    return "postgres" in answer.stdout and str(data) in answer.stdout


def _forget_last_run(layout: Layout, sockets: Path) -> None:
    """Removes what a killed server leaves behind.

    After a power loss the pid in those files may be anybody's, or missing; PostgreSQL would take
    it for another server's and refuse to start.
    """
    pid = _postmaster(layout)
    if pid is not None:
        # One of ours would hold the server lock, which we hold now.
        raise EmbeddedPostgresError(
            f"A PostgreSQL that nimbill did not start (process {pid}) runs on {layout.data}. Stop "
            "it first."
        )
    layout.pid_file.unlink(missing_ok=True)
    for left in sockets.glob(".s.PGSQL.*"):
        left.unlink()


def _socket_folder(layout: Layout) -> Path:
    """In the data folder, or under the temporary folder where that makes no good socket path."""
    name = hashlib.sha256(os.fsencode(layout.folder)).hexdigest()[:16]
    elsewhere = f"nimbill-{os.geteuid()}-{name}"
    temporary = Path(tempfile.gettempdir(), elsewhere)
    shortest = Path("/tmp", elsewhere)  # noqa: S108 - the folder is checked to be ours
    for folder in (layout.sockets, temporary, shortest):
        path = os.fsencode(folder / f".s.PGSQL.{PORT}")
        # Clients take a comma for the end of a host's name, the server a quote for its own.
        if len(path) <= SOCKET_PATH_BYTES_MAX and not set(path) & set(b',"'):
            folder.mkdir(mode=0o700, exist_ok=True)
            _check_private(folder)
            return folder
    raise AssertionError("a path under /tmp is short enough")


def _check_private(folder: Path) -> None:
    """Everybody may write in the temporary folder: a stranger may have made ours first."""
    found = folder.lstat()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    if not ours or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise EmbeddedPostgresError(
            f"{folder}, meant for the PostgreSQL socket, is not a private folder of ours. Look at "
            "who made it, and remove it."
        )
