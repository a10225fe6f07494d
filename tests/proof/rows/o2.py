"""A database is migrated while requests are answered: none fails, and no sum changes.

The old version is a service in this process, the new one a real server with three
more migrations: two columns, then an index and the filling of a column. The new
version migrates when it starts; then the migrations are undone and applied again. Each time a
transaction reads a table of the migration and does not end before requests for this table were
answered. `/readyz` is left out: the old version answers it with 503 on purpose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import httpx

from nimbill.database.embedded_postgres import Address
from tests.commands.installations import fill_service
from tests.invoicing.month_end import MONTH
from tests.proof.broken_variants import BrokenVariant
from tests.proof.later_version import DOWNGRADE, UPGRADE, LaterVersion, later_version
from tests.proof.live_traffic import GROUPS, HttpClient, LiveTraffic, measured_lock_waits
from tests.proof.real_server import NotStarted, RealServer, real_server
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment, print_progress
from tests.running_service import Service, running_service
from tests.temporary_database import connected, execute_sql, temporary_database

TARGET = (
    "up, down and up again with 1,000,000 sums of costs under traffic of the old and the new "
    "version: 0 5xx, no request waits more than 2 s for a lock, sums and rows unchanged"
)
QUICK = 5_000
FULL = 1_000_000
SECONDS_MAX = 600

CLIENTS = 2  # for each version
WAIT_SECONDS_MAX = 2.2  # 2 s, and what it takes to notice
WATCHDOG = 10
OLD, NEW = "old", "new"

# Tables that requests and migrations write.
WRITTEN = (
    "billing_groups",
    "audit_log",
    "audit_heads",
    "tie_out_results",
    "alembic_version",
)
IS_SOMEBODY_WAITING = (
    "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted "
    "AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))"
)
ADD_SUMS = """
    INSERT INTO cost_sums SELECT $1, 'aws', '111111111111', '2026-08',
        lpad((n % 500)::text, 12, '0'), 'Usage', 'usage', 'AmazonEC2', false,
        '2026-08-01'::date + n % 31, 'USD', n / 7.0, 1 FROM generate_series(1, $2::int) n
"""
COLUMNS = """
    SELECT table_name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS names
    FROM information_schema.columns JOIN pg_tables ON tablename = table_name
    WHERE table_schema = 'public' AND schemaname = 'public' GROUP BY 1
"""
Checksums = dict[str, tuple[int, str]]


@dataclass
class LiveMigration:
    superuser: Address  # of this database
    traffic: LiveTraffic
    versions: dict[str, HttpClient]
    steps: int = 0

    def run(self, step: str, migrate: Callable[[], str]) -> bool:
        """Migrate while a transaction reads billing groups; return whether it succeeded."""
        print_progress(f"O2: {step}")
        self.steps += 1
        self.traffic.step = step
        with ThreadPoolExecutor(1) as thread:
            error = asyncio.run(self._run_beside_reader(thread, migrate))
        if error:
            self.traffic.misses.insert(0, f"{step}: the database was not migrated: {error}")
        return not error

    async def _run_beside_reader(
        self, thread: ThreadPoolExecutor, migrate: Callable[[], str]
    ) -> str:
        async with connected(self.superuser) as db, db.transaction():
            await db.fetch("SELECT FROM billing_groups LIMIT 1")
            migration = thread.submit(migrate)
            while not migration.done() and not await db.fetchval(IS_SOMEBODY_WAITING):
                await asyncio.sleep(0.01)
            for version, http in self.versions.items():
                await asyncio.to_thread(self.traffic.read, version, http, GROUPS)
        return await asyncio.wrap_future(migration)


def measure(environment: RowEnvironment, size: int) -> Measurement:
    environment.log_to_file()
    with (
        temporary_database(environment.postgres, environment.superuser) as database,
        running_service(database.url, environment.new_folder("o2")) as service,
    ):
        later = later_version(environment.new_folder("o2-later"), database.url)
        superuser = replace(environment.superuser, database=database.database)
        billed = fill_service(service, environment.new_folder("o2-costs"))
        execute_sql(superuser, ADD_SUMS, billed.organisation.organisation_id, size)
        headers = service.root(billed.organisation)
        paths = (
            GROUPS,
            f"/m/core/invoices/{MONTH}/{billed.company_id}/aws",
            f"/m/core/invoices/{MONTH}/summary?vendor=aws",
            f"/m/core/months/{MONTH}?vendor=aws",
        )
        traffic = LiveTraffic(headers, paths, environment.logged)
        columns = {row["table_name"]: row["names"] for row in execute_sql(superuser, COLUMNS)}
        before = _sum_up(superuser, columns)
        groups = before["billing_groups"][0]
        live = LiveMigration(superuser, traffic, {OLD: service.http})
        with measured_lock_waits(superuser) as longest_wait:
            _migrate_up_and_down(service, later, live)
        after = _sum_up(superuser, columns)
    misses = [*traffic.misses, *_compare(before, after, groups + len(traffic.created))]
    limit = WAIT_SECONDS_MAX * (WATCHDOG if size < FULL else 1)
    if longest_wait[0] > limit:
        misses.append(f"a request waited {longest_wait[0]:.1f} s for a lock")
    if not all(traffic.statuses[version, 200] for version in (OLD, NEW)):
        misses.append("a version answered no request")
    figures = (
        f"{live.steps} steps with {size} sums: {traffic.describe()}; "
        f"{len(traffic.created)} groups created; longest wait for a lock {longest_wait[0]:.2f} s; "
        f"{len(before)} tables compared"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


def _migrate_up_and_down(service: Service, later: LaterVersion, live: LiveMigration) -> None:
    """The new version migrates when it starts; later steps have traffic of both versions."""
    traffic = live.traffic
    with ExitStack() as stack:
        stack.enter_context(traffic.running(OLD, service.http, CLIENTS))
        server: list[RealServer] = []

        def start() -> str:
            settings = {
                **later.settings,
                "NIMBILL_KEY_FILE": str(service.settings.key_file),
                "NIMBILL_RATE_LIMIT": "0",
                "NIMBILL_BASE_URL": service.settings.base_url,
            }
            try:
                server.append(stack.enter_context(real_server(later.data, settings, workers=1)))
            except NotStarted as error:
                return str(error)[-600:]
            return ""

        if not live.run("the new version starts", start):
            return
        http = stack.enter_context(httpx.Client(base_url=server[0].url, timeout=60))
        live.versions[NEW] = http
        stack.enter_context(traffic.running(NEW, http, CLIENTS))
        for step, script in (
            ("a program starts with the migrated database", UPGRADE),
            ("the migrations are undone", DOWNGRADE),
            ("the migrations are applied again", UPGRADE),
        ):
            live.run(step, partial(later.run, script))


def _sum_up(superuser: Address, columns: dict[str, str]) -> Checksums:
    """Number of rows and a checksum of each table, of the columns that it had at first."""
    return {
        table: tuple(
            execute_sql(
                superuser,
                f"SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)), 0)::text "
                f"FROM (SELECT {names} FROM {table}) t",
            )[0]
        )
        for table, names in columns.items()
    }


def _compare(before: Checksums, after: Checksums, groups: int) -> list[str]:
    misses = [
        f"{table} has changed: {before[table]} before, {after[table]} after"
        for table in before
        if table not in WRITTEN and before[table] != after[table]
    ]
    if after["billing_groups"][0] != groups:
        misses.append(f"{after['billing_groups'][0]} billing groups, {groups} acknowledged")
    return misses


VARIANTS = [
    BrokenVariant(
        "no-lock-timeout",
        "A migration waits for a table without a limit.",
        "answered 503",
        "database/migrate.py",
        'await db.execute(sa.select(sa.func.set_config("lock_timeout", LOCK_TIMEOUT, False)))',
        "",
    ),
    BrokenVariant(
        "no-second-attempt",
        "A migration that does not get a table at once is not repeated.",
        "in 1 attempts, another transaction",
        "database/migrate.py",
        "LOCK_ATTEMPTS_MAX = 30",
        "LOCK_ATTEMPTS_MAX = 1",
    ),
    BrokenVariant(
        "one-transaction",
        "All revisions of a migration run in one transaction.",
        "(AssertionError)",
        "database/migrate.py",
        "connection.commit()  # else Alembic would run all revisions in this transaction",
        "",
    ),
]
