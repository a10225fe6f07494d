"""A service and its PostgreSQL on a disk whose power is cut, and a client that imports costs."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from nimbill.database.embedded_postgres import Address, embedded_postgres, superuser_address
from nimbill.demo.vendor_files.charges import SyntheticMonth
from nimbill.demo.vendor_files.dialects import Dialect
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.identity.organisations.operations import NewOrganisation
from tests.plain_http import NO_TLS
from tests.proof.disk.mounted_disk import MountedDisk, mounted_disk
from tests.proof.forked_workers import ForkedWorkers, forked_workers
from tests.proof.killed_operations.importing import FINAL, PATH
from tests.proof.killed_postgres import (
    EXPIRE_LEASES,
    kill_stopped,
    stop_postmaster,
    wait_until_ended,
)
from tests.proof.killed_service import create_organisations
from tests.proof.real_server import environment_for
from tests.temporary_database import execute_sql

LINES = 40
SECONDS_MAX = 120
SECONDS_BETWEEN_TRIES = 0.05
ATTEMPTS_SECONDS = 20.0


@dataclass
class PoweredService:
    """PostgreSQL and the data folder lie on the disk; the workers restart at once."""

    disk: MountedDisk
    organisations: list[NewOrganisation]
    superuser: Address
    workers: ForkedWorkers
    postgres: ExitStack
    cuts: int = 0
    processes: int = 0  # killed in total

    @property
    def data(self) -> Path:
        return self.disk.folder / "data"

    def cut_power(self, *, kept_share: float, seed: str) -> None:
        """No process does anything after the cut; then all are killed, and the disk is back."""
        os.kill(self.workers.process.pid, signal.SIGSTOP)  # it must not start a worker
        worker = self.workers.worker()
        with suppress(ProcessLookupError):
            os.killpg(worker, signal.SIGSTOP)
        postmaster = stop_postmaster(self.disk.folder / "postgres")
        self.disk.cut_power(kept_share=kept_share, seed=seed)
        self.workers.kill()
        wait_until_ended([worker])
        self.processes += 1 + kill_stopped(postmaster)
        self.cuts += 1
        self.disk.unmount()
        self.disk.mount()
        with suppress(OSError):  # its lock file was on the lost disk
            self.postgres.close()

    def start_postgres(self) -> None:
        """As after a reboot. The address stays the same."""
        self.postgres.enter_context(embedded_postgres(self.disk.folder / "postgres"))
        execute_sql(self.superuser, EXPIRE_LEASES)

    def start_worker(self) -> None:
        os.kill(self.workers.process.pid, signal.SIGCONT)


@contextmanager
def powered_service(folder: Path, names: list[str]) -> Iterator[PoweredService]:
    """The database and the organisations are created before the disk can lose anything."""
    with ExitStack() as stack:
        disk = stack.enter_context(mounted_disk(folder))
        data = disk.folder / "data"
        with embedded_postgres(disk.folder / "postgres") as database:
            data.mkdir()
            created = asyncio.run(create_organisations(database, data / "key", names))
        disk.mount()
        postgres = stack.enter_context(ExitStack())
        address = postgres.enter_context(embedded_postgres(disk.folder / "postgres"))
        settings = {
            "NIMBILL_DATABASE_URL": address.url,
            "NIMBILL_KEY_FILE": str(data / "key"),
            "NIMBILL_RATE_LIMIT": "0",
        }
        workers = stack.enter_context(forked_workers(folder, environment_for(data, settings)))
        stack.callback(os.kill, workers.process.pid, signal.SIGCONT)  # or it would not end
        superuser = superuser_address(disk.folder / "postgres")
        yield PoweredService(disk, created, superuser, workers, postgres)


def request_token(url: str, organisation: NewOrganisation) -> dict[str, str]:
    """The headers of its API client, as soon as the service answers."""
    form = {
        "grant_type": "client_credentials",
        "client_id": organisation.client_id,
        "client_secret": organisation.client_secret,
    }
    answer = send_until_answered("POST", f"{url}/core/access_token", data=form)
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def send_until_answered(method: str, url: str, **arguments: Any) -> httpx.Response:
    """Repeat while the service restarts or has no database."""
    until = time.monotonic() + SECONDS_MAX
    while time.monotonic() < until:
        with suppress(httpx.TransportError):
            answer = httpx.request(
                method, url, timeout=ATTEMPTS_SECONDS, verify=NO_TLS, **arguments
            )
            if answer.status_code != 503 and not _is_in_use(answer):
                return answer
        time.sleep(SECONDS_BETWEEN_TRIES)
    raise TimeoutError(f"{method} {url} was not answered in {SECONDS_MAX} s")


def _is_in_use(answer: httpx.Response) -> bool:
    return answer.status_code == 409 and answer.json()["code"] == "idempotency_key_in_use"


@dataclass
class ImportingClient:
    """Uploads one month after the other, each replacing the one before, and waits for its end."""

    url: str
    headers: dict[str, str]
    folder: Path  # on a disk that loses nothing
    accepted: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._import, daemon=True)

    def __enter__(self) -> ImportingClient:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(2 * SECONDS_MAX)

    def wait_for_next(self) -> None:
        """Until one more is done."""
        done, until = len(self.done), time.monotonic() + SECONDS_MAX
        while len(self.done) == done and self._thread.is_alive():
            if time.monotonic() > until:
                self.misses.append(f"{self.accepted[-1:]} is not done after {SECONDS_MAX} s")
                return
            time.sleep(0.01)

    def _import(self) -> None:
        number = 0
        while not self._stopped.is_set():
            number += 1
            import_id = self._upload(number)
            if import_id is None or not self._wait(import_id):
                return

    def _upload(self, number: int) -> str | None:
        folder = self.folder / f"v{number}"
        month = SyntheticMonth(month="2026-08", lines=LINES, seed=number)
        written = write_files(month, Dialect.aws_cur, folder, file_format="csv.gz", parts=1)
        files = [("file", (path.name, path.read_bytes())) for path in written.parts]
        answer = send_until_answered(
            "POST",
            self.url + PATH,
            data={"vendor": "aws"},
            files=files,
            headers={**self.headers, "Idempotency-Key": f"import-{number}"},
        )
        if answer.status_code != 202:
            self.misses.append(f"import {number} was answered {answer.text[:300]}")
            return None
        import_id: str = answer.json()["import_id"]
        self.accepted.append(import_id)
        return import_id

    def _wait(self, import_id: str) -> bool:
        while True:
            answer = send_until_answered(
                "GET", f"{self.url}{PATH}/{import_id}", headers=self.headers
            )
            record = answer.json()
            if answer.status_code != 200:
                self.misses.append(f"{import_id} was accepted and is lost: {answer.text[:200]}")
                return False
            if record["state"] in FINAL:
                break
            if self._stopped.is_set():
                return False
            time.sleep(SECONDS_BETWEEN_TRIES)
        if record["state"] != "done":
            self.misses.append(f"{import_id} was accepted and ended {record}")
            return False
        self.done.append(import_id)
        return True


def find_lost_imports(
    client: ImportingClient, superuser: Address, organisation_id: str, lake: Path
) -> list[str]:
    """Accepted imports that are not stored, and files of the lake that are not as recorded."""
    accepted, done = list(client.accepted), list(client.done)
    query = "SELECT import_id, state FROM cost_imports WHERE organisation_id = $1"
    states = {
        row["import_id"]: row["state"] for row in execute_sql(superuser, query, organisation_id)
    }
    misses = [f"{name} was accepted and is lost" for name in accepted if name not in states]
    misses += [
        f"{name} was done and is {states.get(name)}" for name in done if states.get(name) != "done"
    ]
    query = "SELECT path, sha256 FROM lake_files WHERE organisation_id = $1"
    for path, sha256 in execute_sql(superuser, query, organisation_id):
        file = lake / path
        if not file.exists():
            misses.append(f"the file {path} of the lake is lost")
        elif hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
            misses.append(f"the file {path} of the lake has lost content")
    return misses
