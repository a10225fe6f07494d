"""PostgreSQL killed in the middle of transactions loses nothing that was acknowledged.

Every process of its own cluster is killed by SIGKILL at a random moment while clients write, and
one client creates invoices. The server is started again; the service is not. The journal of
acknowledged writes is compared with the records. Data that the system has not written to the disk
survives a killed process; losing it needs a power cut, which is row X3.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from nimbill.database.embedded_postgres import (
    Address,
    embedded_postgres,
    restart_if_dead,
    superuser_address,
)
from nimbill.identity.organisations.operations import NewOrganisation
from tests.legacy.provisioning.cloud_server import Cloud  # version 3
from tests.proof.acknowledged_writes import WritingClients, compare_with_records
from tests.proof.broken_variants import BrokenVariant
from tests.proof.killed_operations.invoicing import Invoicing
from tests.proof.killed_operations.operation import Organisation, audited, stored
from tests.proof.killed_postgres import (
    EXPIRE_LEASES,
    find_unsafe_settings,
    kill_stopped,
    stop_postmaster,
)
from tests.proof.killed_service import create_organisations
from tests.proof.real_server import RealServer, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress
from tests.temporary_database import execute_sql

TARGET = (
    "1,000 times every process killed: 0 acknowledged and lost, 0 doubled, 0 stored in part; "
    "the service is ready within 10 s after PostgreSQL is, without a restart"
)
QUICK = 3
FULL = 1_000
SECONDS_MAX = 300

READY_SECONDS_MAX = 10.0  # asserted from TIMED_FROM kills on
WATCHDOG_FACTOR = 10  # of smaller sizes, which `make test` runs
TIMED_FROM = 50
ANSWER_SECONDS_MAX = 60.0
CLIENTS = 6
PROGRESS_EVERY = 50
CALM_EVERY = 10  # an invoice takes longer than the time between two kills
CALM_SECONDS_MAX = 5.0


@dataclass
class KilledPostgres:
    folder: Path
    superuser: Address
    server: RealServer
    clients: WritingClients
    invoices: _InvoicingClient
    random: Random
    timed: bool
    kills: int = 0
    processes: int = 0  # killed in total
    slowest_ready: float = 0.0
    misses: list[str] = field(default_factory=list)

    @property
    def seconds_max(self) -> float:
        return READY_SECONDS_MAX * (1 if self.timed else WATCHDOG_FACTOR)

    def kill_once(self, http: httpx.Client) -> None:
        """Kill at a random moment, start again, and wait until the service and its clients work."""
        time.sleep(self.random.uniform(0.02, 0.4))
        self._kill()
        if not restart_if_dead(self.folder):
            self.misses.append(f"kill {self.kills}: a server process was left")
            return
        back = time.monotonic()
        execute_sql(self.superuser, EXPIRE_LEASES)
        while (status := http.get(f"{self.server.url}/readyz").status_code) != 200:
            if time.monotonic() - back > self.seconds_max:
                self.misses.append(f"kill {self.kills}: readyz still answers {status}")
                return
            time.sleep(0.02)
        self.slowest_ready = max(self.slowest_ready, time.monotonic() - back)
        if self.clients.wait_for_success(back, self.seconds_max) is None:
            self.misses.append(f"kill {self.kills}: a client was not served again")

    def _kill(self) -> None:
        self.processes += kill_stopped(stop_postmaster(self.folder))
        self.kills += 1


def measure(environment: RowEnvironment, size: int) -> Measurement:
    folder, random = environment.new_folder("x2"), environment.random("X2")
    with ExitStack() as stack:
        database = stack.enter_context(embedded_postgres(folder / "postgres"))
        superuser = superuser_address(folder / "postgres")
        unsafe = find_unsafe_settings(superuser)
        assert not unsafe, unsafe
        server, (written, invoiced) = stack.enter_context(_serving(folder, database))
        headers = _bearer(server, written)
        invoices = _InvoicingClient(server, invoiced, superuser)
        with (
            invoices,
            WritingClients(
                server.url, headers, CLIENTS, answer_seconds_max=ANSWER_SECONDS_MAX
            ) as clients,
        ):
            killed = KilledPostgres(
                folder / "postgres",
                superuser,
                server,
                clients,
                invoices,
                random,
                size >= TIMED_FROM,
            )
            _kill_repeatedly(killed, size)
        journal = clients.journal
        if killed.timed and killed.slowest_ready > READY_SECONDS_MAX:
            killed.misses.append(f"ready only after {killed.slowest_ready:.1f} s")
        misses = compare_with_records(journal, superuser, written.organisation_id)
        misses += [*killed.misses, *journal.misses, *invoices.misses]
        misses += invoices.compare_with_records()
        misses += [] if invoices.acknowledged else ["no invoice was created"]
    misses += [] if journal.statuses[503] else ["no request met a killed server"]
    figures = (
        f"{killed.kills} kills of {killed.processes} processes; "
        f"{len(journal.acknowledged)} groups and {invoices.acknowledged} invoices acknowledged "
        f"and compared, {invoices.given_up} invoices given up, {journal.statuses[503]} × 503; "
        f"ready at most {killed.slowest_ready:.1f} s after PostgreSQL"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


@contextmanager
def _serving(folder: Path, database: Address) -> Iterator[tuple[RealServer, list[NewOrganisation]]]:
    data = folder / "data"
    data.mkdir()
    names = ["X2 groups", "X2 invoices"]
    organisations = asyncio.run(create_organisations(database, data / "key", names))
    settings = {
        "NIMBILL_DATABASE_URL": database.url,
        "NIMBILL_KEY_FILE": str(data / "key"),
        "NIMBILL_RATE_LIMIT": "0",
    }
    with real_server(data, settings, workers=1) as server:
        yield server, organisations


def _bearer(server: RealServer, organisation: NewOrganisation) -> dict[str, str]:
    client = {"client_id": organisation.client_id, "client_secret": organisation.client_secret}
    return {"Authorization": f"Bearer {server.token(client)}"}


def _kill_repeatedly(killed: KilledPostgres, size: int) -> None:
    killed.clients.wait_for_success(time.monotonic(), ANSWER_SECONDS_MAX)
    with httpx.Client(timeout=ANSWER_SECONDS_MAX) as http:
        for number in range(1, size + 1):
            if killed.misses or not killed.clients.alive:
                return
            if number % CALM_EVERY == 0:
                killed.invoices.wait_for_next(CALM_SECONDS_MAX)
            killed.kill_once(http)
            if number % PROGRESS_EVERY == 0:
                acknowledged = len(killed.clients.journal.acknowledged)
                print_progress(f"X2: {number} kills, {acknowledged} acknowledged")


class _InvoicingClient:
    """Creates one invoice after the other, each a new revision, and repeats until acknowledged."""

    def __init__(self, server: RealServer, created: NewOrganisation, superuser: Address) -> None:
        self.misses: list[str] = []
        self._operation = Invoicing()
        self._organisation = Organisation(
            created.organisation_id,
            server.url,
            _bearer(server, created),
            legacy={},  # version 3
            cloud=Cloud("", None),  # version 3
            inbox=server.data,
            superuser=superuser,
        )
        self._operation.prepare(self._organisation)
        self.acknowledged = self.given_up = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._create, daemon=True)

    def wait_for_next(self, seconds_max: float) -> None:
        """Until one more is answered; a run that is killed again and again is given up."""
        answered, until = self.acknowledged + self.given_up, time.monotonic() + seconds_max
        while answered == self.acknowledged + self.given_up and time.monotonic() < until:
            if not self._thread.is_alive():
                return
            time.sleep(0.02)

    def __enter__(self) -> _InvoicingClient:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(2 * ANSWER_SECONDS_MAX)

    def _create(self) -> None:
        number = 0
        while not self._stopped.is_set():
            number += 1
            request = self._operation.build_request(self._organisation, number)
            answer = self._organisation.send(request)
            if answer.status_code == self._operation.answer:
                self.acknowledged += 1
            elif answer.status_code == 409 and answer.json()["code"] == "no_group_ready":
                self.given_up += 1  # after several attempts; nothing of it may be stored
            else:
                self.misses.append(f"{request.key} was answered {answer.text}")
                return

    def compare_with_records(self) -> list[str]:
        """Every acknowledged invoice is one revision with one audit row."""
        (last,) = self._organisation.fetch(stored("invoices", "max(revision)"))
        (revisions,) = self._organisation.fetch(stored("invoice_revisions", "count(*)"))
        (audit_rows,) = self._organisation.fetch(audited("create_invoice"))
        counts = (last[0] or 0, revisions[0], audit_rows[0])
        if counts == (self.acknowledged,) * 3:
            return []
        expected = f"{self.acknowledged} invoices were acknowledged"
        return [f"{expected}; the last revision, the revisions and the audit rows are {counts}"]


VARIANTS = [
    BrokenVariant(
        "answered-before-commit",
        "A change is acknowledged before its commit.",
        "was answered 404",
        "access/request_context.py",
        "class RequestContext:",
        """_commits: list[Any] = []


async def _commit_later(db: AsyncConnection) -> None:
    await asyncio.sleep(0.05)
    await db.commit()
    await db.close()


class RequestContext:""",
        also=[
            (
                "access/request_context.py",
                """\
            await self.db.commit()
            # Nothing is left to roll back, so closing does not wait and needs no shield.
""",
                "",
            ),
            (
                "access/request_context.py",
                """\
            await db.close()
""",
                """\
            _commits.append(asyncio.ensure_future(_commit_later(db)))
""",
            ),
        ],
    ),
    BrokenVariant(
        "commits-not-flushed",
        "A commit does not wait until it is written to the disk.",
        "was acknowledged and is lost",
        "database/tenant_scope.py",
        '"timezone": "UTC",',
        """"timezone": "UTC",
                "synchronous_commit": "off",""",
    ),
]
