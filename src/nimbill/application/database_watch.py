"""Restarts the embedded PostgreSQL of a server if it dies."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog

from nimbill.database.embedded_postgres import restart_if_dead
from nimbill.foundation.errors import OperatorError
from nimbill.foundation.settings import Settings

CHECK_SECONDS = 1.0
# A server that dies more often than this needs an operator.
RESTARTS_MAX = 5
RESTART_WINDOW_SECONDS = 600

log = structlog.get_logger()


class DatabaseLost(OperatorError):
    """The embedded PostgreSQL died and cannot be started again."""


class DatabaseWatch:
    """Runs in a thread of the main process, beside the HTTP server."""

    def __init__(self, restart: Callable[[], bool], stop_server: Callable[[], None]) -> None:
        self.failure: DatabaseLost | None = None
        self._restart = restart
        self._stop_server = stop_server
        self._restart_times: deque[float] = deque(maxlen=RESTARTS_MAX)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Return when no restart is under way any more."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while self.failure is None and not self._stopping.wait(CHECK_SECONDS):
            self.check()

    def check(self) -> None:
        """Restart a dead database; stop the server if that fails or does not last."""
        try:
            if self._restart():
                self._record_restart()
        except (OperatorError, OSError) as error:
            self._fail(f"The embedded PostgreSQL died and cannot be started again: {error}")

    def _record_restart(self) -> None:
        log.warning("database_restarted", reason="the embedded PostgreSQL had died")
        now = time.monotonic()
        times = self._restart_times
        if len(times) == RESTARTS_MAX and now - times[0] < RESTART_WINDOW_SECONDS:
            self._fail(
                f"The embedded PostgreSQL died more than {RESTARTS_MAX} times within "
                f"{RESTART_WINDOW_SECONDS // 60} minutes. See its log in postgres/log of the data "
                "folder; the memory or the disk may be full."
            )
        times.append(now)

    def _fail(self, text: str) -> None:
        log.error("database_lost")
        self.failure = DatabaseLost(text)
        self._stop_server()


@contextmanager
def watch_database(settings: Settings) -> Iterator[None]:
    """Watch the embedded database inside the block; raise DatabaseLost at its end if it is lost.

    A database with an address of its own is watched by its operator.
    """
    if settings.database_url is not None:
        yield
        return
    folder = settings.data / "postgres"
    watch = DatabaseWatch(lambda: restart_if_dead(folder), _stop_server)
    watch.start()
    try:
        yield
    finally:
        watch.stop()
        if watch.failure is not None:
            raise watch.failure


def _stop_server() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
