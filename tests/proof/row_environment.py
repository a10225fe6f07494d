"""The environment of proof rows: a folder, a seed, and servers that start on first use."""

from __future__ import annotations

import sys
from contextlib import ExitStack, redirect_stderr
from functools import cached_property, partial
from pathlib import Path
from random import Random
from types import TracebackType

import structlog

from nimbill.database.embedded_postgres import Address, embedded_postgres, superuser_address
from nimbill.foundation.logs import configure_logs
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql

ROOT = Path(__file__).parents[2]
QUICK_SEED = 20_260_115  # of `make test` and of broken variants


class RowEnvironment:
    """One per run; every row takes its randomness from the printed seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.log = folder / "service.log"  # of the service in this process
        self._open = ExitStack()
        self._folders = 0
        self._logs_to_file = False

    def __enter__(self) -> RowEnvironment:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def random(self, row: str) -> Random:
        """Random numbers that depend on the row and the seed only."""
        return Random(f"{row} {self.seed}")

    def new_folder(self, name: str) -> Path:
        self._folders += 1
        folder = self.folder / f"{name}-{self._folders}"
        folder.mkdir(parents=True)
        return folder

    @cached_property
    def postgres(self) -> Address:
        """A commit does not wait for the disk; rows about durability start servers of their own."""
        folder = self.folder / "postgres"
        address = self._open.enter_context(embedded_postgres(folder))
        superuser = superuser_address(folder)
        execute_sql(superuser, f"ALTER ROLE {address.user} SET synchronous_commit = off")
        return address

    @property
    def superuser(self) -> Address:
        """A superuser, to whom row-level security does not apply."""
        _ = self.postgres  # starts the server
        return superuser_address(self.folder / "postgres")

    @cached_property
    def service(self) -> Service:
        """The service in this process; it logs to a file."""
        self.log_to_file()
        data = self.new_folder("data")
        return self._open.enter_context(running_service(self.postgres.url, data))

    def log_to_file(self) -> None:
        """Let services in this process log to a file."""
        if self._logs_to_file:
            return
        self._logs_to_file = True
        out = self._open.enter_context(self.log.open("a", buffering=1))
        self._open.callback(partial(structlog.configure, **structlog.get_config()))
        with redirect_stderr(out):
            configure_logs()

    def logged(self, request_id: str) -> str:
        """The log lines of one request, without its final access line."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join(
            line for line in lines if request_id in line and '"event": "request"' not in line
        )


def print_progress(text: str) -> None:
    """Print a progress line to standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
