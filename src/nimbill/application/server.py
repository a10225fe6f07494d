"""Serving: several worker processes behind one port, started and stopped in order."""

import errno
import os
import resource
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from nimbill.foundation.logs import SERVER_LOGS

HEADER_MILLISECONDS = 8_000
HEADER_BYTES_MAX = 65_536
# far more than the server's own default: whoever opens a thousand connections and sends nothing
# must not keep everybody else waiting until they time out
CONNECTIONS_PER_WORKER_MAX = 8_192
WAITING_CONNECTIONS_MAX = 4_096
STOP_SECONDS = 15
PAUSE_SECONDS = 0.1
TOLD_AGAIN_SECONDS = 1
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  # not a choice


class CannotListen(Exception):
    """The address is taken or not ours; the message says which."""


def refuse_port_in_use(host: str, port: int) -> None:
    """Asked before anything is started: the workers share a port with whoever lets them."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as attempt:
            attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            attempt.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CannotListen(f"port {port} of {host} is taken; --port names another") from error
        raise CannotListen(f"cannot listen on {host}, port {port}: {error.strerror}") from error


def serve(
    *,
    host: str,
    port: int,
    workers: int,
    database_url: str,
    data: Path,
    when_ready: Callable[[str], None],
) -> None:
    """Until SIGTERM or Ctrl-C; requests under way are answered first.

    `when_ready` is told the address as soon as it answers, from a thread of its own.
    """
    os.environ["NIMBILL_DATABASE_URL"] = database_url
    os.environ["NIMBILL_DATA"] = str(data)
    os.environ["NIMBILL_LISTENS_AT"] = address_of(host, port)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_empty_folder(data / "metrics" / str(port)))
    _allow_open_files()
    granian = Granian(
        "nimbill.application.app:create_app",
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
        log_dictconfig=SERVER_LOGS,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )
    threading.Thread(target=_await_answer, args=(host, port, when_ready), daemon=True).start()
    threading.Thread(target=_stop_for_certain, args=(granian,), daemon=True).start()
    granian.serve()


def _allow_open_files() -> None:
    """Each connection is an open file, and the usual limit of 1,024 is soon reached."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS_PER_WORKER_MAX
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _stop_for_certain(granian: MPServer) -> None:
    """A worker that is told to stop while it starts does not hear it: it is told again."""
    while not granian.interrupt_signal:
        time.sleep(PAUSE_SECONDS)
    while True:
        time.sleep(TOLD_AGAIN_SECONDS)
        for worker in granian.wrks:
            if worker.inner.exitcode is None:
                with suppress(ProcessLookupError):
                    os.kill(worker.inner.pid, signal.SIGTERM)


def _await_answer(host: str, port: int, when_ready: Callable[[str], None]) -> None:
    # the workers are forked meanwhile: until one answers, this thread holds no lock
    reached = EVERYWHERE.get(host, host)
    while not _answers(reached, port):
        time.sleep(PAUSE_SECONDS)
    when_ready(address_of(host, port))


def address_of(host: str, port: int) -> str:
    """Where a client on this machine reaches what listens there."""
    reached = EVERYWHERE.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def _answers(host: str, port: int) -> bool:
    with suppress(OSError, HTTPException):
        asked = HTTPConnection(host, port, timeout=10)
        try:
            asked.request("GET", "/readyz")
            return asked.getresponse().status == 200
        finally:
            asked.close()
    return False


def _empty_folder(folder: Path) -> Path:
    """Figures of workers that are gone would be counted for ever."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    return folder
