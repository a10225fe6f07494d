"""Runs several worker processes behind one port, and stops them in order."""

import errno
import multiprocessing
import os
import resource
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from pathlib import Path
from types import FrameType

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from nimbill.foundation.errors import OperatorError
from nimbill.foundation.garbage_collection import keep_what_is_imported
from nimbill.foundation.logs import SERVER_LOG_CONFIG

HEADER_MILLISECONDS = 8_000
HEADER_BYTES_MAX = 65_536
# More than the default, so that many idle connections do not block others until they time out.
CONNECTIONS_PER_WORKER_MAX = 8_192
WAITING_CONNECTIONS_MAX = 4_096
STOP_SECONDS = 15
POLL_SECONDS = 0.1
REPEAT_STOP_SECONDS = 1
# Where a client on this machine reaches a server that listens on every address.
LOOPBACK_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104

APP_MODULE = "nimbill.application.app"


SignalHandler = Callable[[int, FrameType | None], object]


class CannotListen(OperatorError):
    """The address is in use or does not belong to this machine."""


def refuse_port_in_use(host: str, port: int) -> None:
    """Check the port before anything starts, because worker sockets would share a port in use."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotListen(
                f"Port {port} of {host} is in use. Choose another one with --port."
            ) from error
        raise CannotListen(f"Cannot listen on {host}, port {port}: {error.strerror}.") from error


def serve(
    *,
    host: str,
    port: int,
    workers: int,
    database_url: str,
    data: Path,
    when_ready: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or Ctrl-C; requests in progress are completed.

    `when_ready` is called in a thread with the address, once the service is ready.
    """
    os.environ["NIMBILL_DATABASE_URL"] = database_url
    os.environ["NIMBILL_DATA"] = str(data)
    os.environ["NIMBILL_LISTENS_AT"] = format_address(host, port)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_empty_folder(data / "metrics" / str(port)))
    _raise_open_file_limit()
    # Workers are forked: each has what this process has imported, also one that starts later.
    import_module(APP_MODULE)
    keep_what_is_imported()
    granian = Granian(
        f"{APP_MODULE}:create_app",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=workers,
        http=HTTPModes.http1,
        websockets=False,
        backlog=WAITING_CONNECTIONS_MAX,
        backpressure=CONNECTIONS_PER_WORKER_MAX,
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_MILLISECONDS, max_buffer_size=HEADER_BYTES_MAX
        ),
        log_level=LogLevels.warning,
        log_dictconfig=SERVER_LOG_CONFIG,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )
    granian.on_startup(_StopRepeater().start)
    threading.Thread(target=_await_readiness, args=(host, port, when_ready), daemon=True).start()
    granian.serve()


def _raise_open_file_limit() -> None:
    """Each connection is an open file, and the usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * CONNECTIONS_PER_WORKER_MAX
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


class _StopRepeater:
    """Repeats SIGTERM for the workers, because a worker ignores it while it starts."""

    def __init__(self) -> None:
        self._stopping = False

    def start(self) -> None:
        """Must run after Granian has set its signal handlers, which `on_startup` guarantees."""
        for number in (signal.SIGINT, signal.SIGTERM):
            granian_handler = signal.getsignal(number)
            assert callable(granian_handler)
            signal.signal(number, partial(self._handle, granian_handler))
        threading.Thread(target=self._repeat, daemon=True).start()

    def _handle(self, granian_handler: SignalHandler, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        granian_handler(number, frame)

    def _repeat(self) -> None:
        while not self._stopping:
            time.sleep(POLL_SECONDS)
        while True:
            time.sleep(REPEAT_STOP_SECONDS)
            for worker in multiprocessing.active_children():
                worker.terminate()


def _await_readiness(host: str, port: int, when_ready: Callable[[str], None]) -> None:
    # Workers are forked in the meantime, so this thread must not hold a lock.
    reachable_host = LOOPBACK_ADDRESSES.get(host, host)
    while not _is_ready(reachable_host, port):
        time.sleep(POLL_SECONDS)
    when_ready(format_address(host, port))


def format_address(host: str, port: int) -> str:
    """The URL at which a client on this machine reaches the service."""
    reachable_host = LOOPBACK_ADDRESSES.get(host, host)
    if ":" in reachable_host:
        reachable_host = f"[{reachable_host}]"
    return f"http://{reachable_host}:{port}"


def _is_ready(host: str, port: int) -> bool:
    with suppress(OSError, HTTPException):
        connection = HTTPConnection(host, port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        finally:
            connection.close()
    return False


def _empty_folder(folder: Path) -> Path:
    """Metrics of earlier workers would be counted forever."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    return folder
