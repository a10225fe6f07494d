"""Starts and stops the server, and detects whether it is running."""

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
    build_command,
    clean_environment,
)
from nimbill.database.embedded_postgres.layout import Layout
from nimbill.database.embedded_postgres.locks import PAUSE_SECONDS, open_lock, try_lock

READY_SECONDS_MAX = 120  # includes crash recovery after a power loss
STOP_SECONDS_MAX = 60
UNKNOWN_SECONDS_MAX = 10
PID_FILE_LINES = 8
PORT = 5432  # part of the socket file's name; the server does not listen on the network
SSL_REQUEST = struct.pack("!ii", 8, 80877103)  # the server answers with one letter
SOCKET_PATH_BYTES_MAX = 103  # macOS allows 103, Linux 107

SETTINGS = {
    # Committed data survives a power loss. On the command line, these override any configuration
    # file.
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
    # One file per weekday, overwritten after a week.
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
        """Send an SSL request, which every server answers before authentication.

        A successful connection is not enough: a dying server still accepts connections, and its
        socket file remains.
        """
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
            attempt.settimeout(5)
            try:
                attempt.connect(str(self.folder / f".s.PGSQL.{self.port}"))
                attempt.sendall(SSL_REQUEST)
                return attempt.recv(1) in {b"N", b"S"}
            except OSError:
                return False


def find_ready_socket(layout: Layout) -> Socket | None:
    """The socket that the server names in its pid file, if the server is ready and responds."""
    lines = _read_pid_file(layout)
    if len(lines) < PID_FILE_LINES or lines[7].strip() != "ready":
        return None
    server_socket = Socket(Path(lines[4]), int(lines[3]))
    if not server_socket.answers():
        return None
    _require_private(server_socket.folder)
    return server_socket


def wait_for_ready_or_free(layout: Layout) -> BinaryIO | None:
    """Return None once the server is ready, or the server lock if no server process exists."""
    deadline = time.monotonic() + READY_SECONDS_MAX
    while True:
        server_lock = open_lock(layout.server_lock)
        if try_lock(server_lock, shared=False):
            return server_lock
        server_lock.close()
        if find_ready_socket(layout) is not None:
            return None
        if time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"PostgreSQL in {layout.folder} has not been ready for {READY_SECONDS_MAX} "
                f"seconds. The end of its log:\n{layout.log_tail()}"
            )
        time.sleep(PAUSE_SECONDS)


def start(layout: Layout, server_lock: BinaryIO) -> None:
    """Return immediately. The server inherits the lock and may still fail to start."""
    sockets = _socket_folder(layout)
    _remove_stale_files(layout, sockets)
    settings = {
        **SETTINGS,
        "log_directory": str(layout.logs),
        "unix_socket_directories": f'"{sockets}"',
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    line = build_command("postgres", "-D", str(layout.data), *options, folder=layout.data)
    with layout.start_log.open("wb") as start_log:
        layout.start_log.chmod(0o600)
        # The shell exits at once, so init adopts the server and no zombie remains when another
        # process stops it. Its own session keeps Ctrl-C away; its output in a file keeps our
        # pipes closed.
        subprocess.run(  # noqa: S603 - no external input
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
    """Close open sessions, and return when the last server process has exited."""
    signalled_pid: int | None = None
    server_socket = find_ready_socket(layout)
    deadline = time.monotonic() + UNKNOWN_SECONDS_MAX
    with open_lock(layout.server_lock) as server_lock:
        while not try_lock(server_lock, shared=False):
            # Repeated while the pid is unknown: a new server has not written its pid file yet.
            if signalled_pid is None and (signalled_pid := _signal_stop(layout)) is not None:
                deadline = time.monotonic() + STOP_SECONDS_MAX
            if time.monotonic() > deadline:
                break
            time.sleep(PAUSE_SECONDS)
        else:
            if server_socket is not None and server_socket.folder != layout.sockets:
                with suppress(OSError):
                    server_socket.folder.rmdir()  # a folder under /tmp
            return
    if signalled_pid is None:
        # The server runs in another container: its process cannot be signalled from here.
        log.warning("PostgreSQL in %s was started elsewhere and is still running.", layout.folder)
        return
    raise EmbeddedPostgresError(
        f"PostgreSQL in {layout.folder} (process {signalled_pid}) has not stopped for "
        f"{STOP_SECONDS_MAX} seconds. The end of its log:\n{layout.log_tail()}"
    )


def _signal_stop(layout: Layout) -> int | None:
    pid = _find_postmaster(layout)
    if pid is None:
        return None
    try:
        os.kill(pid, signal.SIGINT)  # "fast" shutdown: ends open sessions
    except ProcessLookupError:
        return None
    return pid


def _read_pid_file(layout: Layout) -> list[str]:
    try:
        return os.fsdecode(layout.pid_file.read_bytes()).split("\n")
    except FileNotFoundError:
        return []


def _find_postmaster(layout: Layout) -> int | None:
    """The process named in the pid file, if it is a server on this data folder."""
    first_line = _read_pid_file(layout)[:1]
    if not first_line or not first_line[0].strip().isdigit():
        return None
    pid = int(first_line[0])
    return pid if _is_server(pid, layout.data) else None


def _is_server(pid: int, data: Path) -> bool:
    process = Path("/proc", str(pid))
    try:
        if Path("/proc/self").exists():
            # The working directory of a server is its data folder.
            is_postgres = b"postgres" in (process / "cmdline").read_bytes()
            return is_postgres and (process / "cwd").samefile(data)
    except OSError:
        return False
    line = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    listing = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    return "postgres" in listing.stdout and str(data) in listing.stdout


def _remove_stale_files(layout: Layout, sockets: Path) -> None:
    """Remove the pid file and socket of a killed server.

    After a power loss their pid may be missing or belong to an unrelated process. PostgreSQL would
    then assume a running server and refuse to start.
    """
    pid = _find_postmaster(layout)
    if pid is not None:
        # It is not one of ours: that would hold the server lock, which this process holds.
        raise EmbeddedPostgresError(
            f"A PostgreSQL server that nimbill did not start (process {pid}) uses {layout.data}. "
            "Stop it first."
        )
    layout.pid_file.unlink(missing_ok=True)
    for socket_file in sockets.glob(".s.PGSQL.*"):
        socket_file.unlink()


def _socket_folder(layout: Layout) -> Path:
    """In the data folder, or in the temporary folder if the path is unsuitable for a socket."""
    name = hashlib.sha256(os.fsencode(layout.folder)).hexdigest()[:16]
    temporary_name = f"nimbill-{os.geteuid()}-{name}"
    temporary = Path(tempfile.gettempdir(), temporary_name)
    shortest = Path("/tmp", temporary_name)  # noqa: S108 - checked to be private
    for folder in (layout.sockets, temporary, shortest):
        path = os.fsencode(folder / f".s.PGSQL.{PORT}")
        # Clients split host names at commas; the server's setting is quoted.
        if len(path) <= SOCKET_PATH_BYTES_MAX and not set(path) & set(b',"'):
            folder.mkdir(mode=0o700, exist_ok=True)
            _require_private(folder)
            return folder
    raise AssertionError("a path under /tmp is short enough")


def _require_private(folder: Path) -> None:
    """Refuse a folder that another user may have created in the shared temporary folder."""
    status = folder.lstat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    if not is_own or status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise EmbeddedPostgresError(
            f"{folder}, needed for the PostgreSQL socket, is not a private folder of this user. "
            "Check who created it, and remove it."
        )
