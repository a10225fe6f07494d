"""A database that is away, slow or unreachable costs a 503, never a wrong answer or a lost write.

A proxy between a real server and PostgreSQL refuses, delays, stalls, drops and resets, and leaves
connections half-open, while clients write and read. A journal of acknowledged writes is compared
with the records afterwards. Delays of more than about 0.1 s per piece are not covered.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from nimbill.database.embedded_postgres import embedded_postgres, superuser_address
from tests.plain_http import NO_TLS
from tests.proof.acknowledged_writes import PATH, WritingClients, compare_with_records
from tests.proof.broken_variants import BrokenVariant
from tests.proof.faulty_network import (
    FaultyNetwork,
    NetworkFault,
    faulty_network,
    require_packet_filters,
)
from tests.proof.killed_service import create_organisations
from tests.proof.real_server import RealServer, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress
from tests.temporary_database import execute_sql

TARGET = (
    "200 faults: only success or 503 with Retry-After, every answer within 5 s, 0 acknowledged "
    "and lost, everyone served again 5 s after the fault, no connection leaked"
)
QUICK = 6  # each kind of fault once
FULL = 200
SECONDS_MAX = 300

ANSWER_SECONDS_MAX = 5.0  # asserted from TIMED_FROM cycles on
RECOVERY_SECONDS_MAX = 5.0
WATCHDOG_FACTOR = 10  # of smaller sizes, which `make test` runs
TIMED_FROM = 50
POOL_SIZE = 3
CLIENTS = 8  # more than the pool, so that some wait for a connection
LONG_EVERY = 4  # one fault in this many lasts longer than an answer may take
LONG_SECONDS = 6.5
PROGRESS_EVERY = 20
CONNECTIONS = "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name LIKE 'nimbill%'"


@dataclass
class FaultCycles:
    network: FaultyNetwork
    clients: WritingClients
    random: Random
    timed: bool
    counts: Counter[str] = field(default_factory=Counter)
    slowest_recovery: float = 0.0
    slowest_answer: float = 0.0
    slowest_fault: str = ""  # during which the slowest answer was given
    misses: list[str] = field(default_factory=list)

    @property
    def factor(self) -> int:
        return 1 if self.timed else WATCHDOG_FACTOR

    def run(self, number: int) -> None:
        fault = list(NetworkFault)[number % len(NetworkFault)]
        is_long = self.timed and (number // len(NetworkFault)) % LONG_EVERY == 0
        time.sleep(self.random.uniform(0.1, 0.4))
        self.network.begin(fault)
        time.sleep(LONG_SECONDS if is_long else self.random.uniform(0.3, 1.5))
        self.network.end()
        self.counts[fault.value] += 1
        ended = time.monotonic()
        recovery = self.clients.wait_for_success(ended, RECOVERY_SECONDS_MAX * self.factor)
        if recovery is None:
            after = f"{RECOVERY_SECONDS_MAX * self.factor:.0f} s after it ended"
            self.misses.append(f"cycle {number}, {fault.value}: not everyone was served {after}")
            return
        self.slowest_recovery = max(self.slowest_recovery, recovery)
        slowest = self.clients.journal.slowest_answer
        if slowest > self.slowest_answer:
            self.slowest_answer, self.slowest_fault = slowest, fault.value


def measure(environment: RowEnvironment, size: int) -> Measurement:
    require_packet_filters()
    folder, random = environment.new_folder("x7"), environment.random("X7")
    data = folder / "data"
    data.mkdir()
    with ExitStack() as stack:
        database = stack.enter_context(embedded_postgres(folder / "postgres"))
        superuser = superuser_address(folder / "postgres")
        (organisation,) = asyncio.run(create_organisations(database, data / "key", ["X7"]))
        network = stack.enter_context(faulty_network(database, environment.seed))
        server = stack.enter_context(_serving(data, network))
        client = {"client_id": organisation.client_id, "client_secret": organisation.client_secret}
        headers = {"Authorization": f"Bearer {server.token(client)}"}
        answer_max = ANSWER_SECONDS_MAX * WATCHDOG_FACTOR
        with WritingClients(server.url, headers, CLIENTS, answer_seconds_max=answer_max) as clients:
            cycles = FaultCycles(network, clients, random, timed=size >= TIMED_FROM)
            _run_cycles(cycles, size)
        journal = clients.journal
        misses = compare_with_records(journal, superuser, organisation.organisation_id)
        misses += [*cycles.misses, *journal.misses]
        if cycles.timed and journal.slowest_answer > ANSWER_SECONDS_MAX:
            misses.append(f"an answer took {journal.slowest_answer:.1f} s")
        used = execute_sql(superuser, CONNECTIONS)[0]["n"]
        if used > 2 * POOL_SIZE + 1:
            misses.append(f"{used} connections are open after the faults")
        misses += [*_read_at_once(server, headers), *_find_unexpected_errors(server)]
    misses += [] if journal.statuses[503] else ["no request met a fault"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(cycles.counts.items()))
    figures = (
        f"{sum(cycles.counts.values())} faults ({kinds}), {journal.statuses[200]} successes and "
        f"{journal.statuses[503]} × 503, slowest answer {journal.slowest_answer:.1f} s "
        f"({cycles.slowest_fault}), slowest recovery {cycles.slowest_recovery:.1f} s, "
        f"{used} connections at the end, {len(journal.acknowledged)} acknowledged writes compared"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


def _serving(data: Path, network: FaultyNetwork) -> AbstractContextManager[RealServer]:
    settings = {
        "NIMBILL_DATABASE_URL": network.address.url,
        "NIMBILL_KEY_FILE": str(data / "key"),
        "NIMBILL_RATE_LIMIT": "0",
        "NIMBILL_POOL_SIZE": str(POOL_SIZE),
    }
    return real_server(data, settings, workers=1)


def _run_cycles(cycles: FaultCycles, size: int) -> None:
    cycles.clients.wait_for_success(time.monotonic(), 60)
    for number in range(size):
        if cycles.misses or not cycles.clients.alive:
            return
        cycles.run(number)
        if (number + 1) % PROGRESS_EVERY == 0:
            slowest = f"{cycles.slowest_answer:.1f} s ({cycles.slowest_fault})"
            print_progress(f"X7: {number + 1} faults, slowest answer {slowest}")


def _find_unexpected_errors(server: RealServer) -> list[str]:
    """What the log says about answers that are neither a success nor 503."""
    logged = server.log.read_text(errors="replace").splitlines()
    return [line for line in logged if "unexpected_error" in line]


def _read_at_once(server: RealServer, headers: dict[str, str]) -> list[str]:
    """As many requests at once as there are connections; a leaked one would let them fail."""

    def read(_: int) -> int:
        return httpx.get(
            f"{server.url}{PATH}?limit=1", headers=headers, timeout=50, verify=NO_TLS
        ).status_code

    with ThreadPoolExecutor(2 * POOL_SIZE) as pool:
        statuses = Counter(pool.map(read, range(4 * POOL_SIZE)))
    return [] if set(statuses) == {200} else [f"after the faults: {dict(statuses)}"]


VARIANTS = [
    BrokenVariant(
        "lost-connection-unexpected",
        "A connection that is lost during a request is treated as an internal error.",
        "was answered 500",
        "database/tenant_scope.py",
        """error.connection_invalidated
            or is_lock_conflict(error)""",
        "is_lock_conflict(error)",
    ),
    BrokenVariant(
        "lost-peers-not-noticed",
        "A connection that the other side has forgotten is not ended.",
        "half-open: not everyone was served",
        "database/tenant_scope.py",
        'sa.event.listen(engine.sync_engine, "connect", _notice_lost_peer, insert=True)',
        "",
    ),
    BrokenVariant(
        "no-retry-after",
        "A response without a database does not say when to retry.",
        "was answered 503 (Retry-After None)",
        "database/tenant_scope.py",
        "retry_after=2,",
        "",
    ),
]
