"""Invoice runs of a month, compared with bare sums over the stored lines and bare inserts."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from bench.example_month import MONTH, connect, copy_rows, fill_month, sum_lines, write_lines
from bench.rounds import ComparisonLine, Contender, Curve, Suite, build_curve
from nimbill.database.embedded_postgres import embedded_postgres, superuser_address
from nimbill.database.tenant_scope import TenantScope, create_app_engine, transaction
from nimbill.foundation.ids import new_id
from nimbill.invoicing.runs.invoice_run import BATCH_GROUPS, invoice_job_types
from nimbill.invoicing.runs.operations import CreateInvoicesRequest, start_invoice_run, wait_for_run
from nimbill.jobs.runner import JobRunner

OURS, BARE = "nimbill", "bare sums and rows"
DESCRIPTIONS = {
    OURS: "a bulk run in a running service, from the request to the response",
    BARE: "DuckDB sums over the lines, then the same rows inserted into tables with the same "
    "columns and indexes over an open connection, by COPY where nothing is replaced, "
    f"{BATCH_GROUPS} groups per transaction",
}
LINES = 10_000_000
GROUPS = (100, 1_000, 5_000)
MINIMUM = 1 / 1.5
CREATE_TABLES = """
CREATE TABLE bare_invoices (LIKE invoices INCLUDING ALL);
CREATE TABLE bare_revisions (LIKE invoice_revisions INCLUDING ALL);
CREATE TABLE bare_audit (LIKE audit_log INCLUDING ALL);
"""
SELECT_INVOICES = """
SELECT organisation_id, month, company_id, vendor, number, revision, create_time, update_time
FROM invoices ORDER BY number
"""
UPSERT_INVOICE = """
INSERT INTO bare_invoices
    (organisation_id, month, company_id, vendor, number, revision, create_time, update_time)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (organisation_id, month, company_id, vendor)
    DO UPDATE SET revision = excluded.revision, update_time = excluded.update_time
"""
AUDIT_COLUMNS = "organisation_id, seq, entry, hash"  # the other columns are generated


@dataclass
class BenchmarkMonth:
    """A month with a number of groups, in its own database."""

    groups: int
    lines: Path
    scope: TenantScope
    loop: asyncio.Runner
    engine: AsyncEngine
    superuser: Any  # a connection that bypasses row-level security
    invoices: list[dict[str, Any]] = field(default_factory=list)
    revisions: list[dict[str, Any]] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    rounds: int = 0


@contextmanager
def contenders(lines: int, durations: dict[int, list[float]]) -> Iterator[Sequence[Contender]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        months: dict[str, BenchmarkMonth] = {}
        for groups in GROUPS:
            months[f"{groups:,} groups"] = create_month(stack, folder / str(groups), groups, lines)
        yield [
            Contender(OURS, DESCRIPTIONS[OURS], partial(_measure_ours, months, durations)),
            Contender(BARE, DESCRIPTIONS[BARE], partial(_measure_bare, months)),
        ]


def create_month(stack: ExitStack, folder: Path, groups: int, lines: int) -> BenchmarkMonth:
    folder.mkdir()
    file = folder / "lines.parquet"
    write_lines(file, groups=groups, lines=lines)
    address = stack.enter_context(embedded_postgres(folder / "postgres"))
    loop = stack.enter_context(asyncio.Runner())
    db = loop.run(connect(superuser_address(folder / "postgres")))
    stack.callback(lambda: loop.run(db.close()))
    organisation = loop.run(fill_month(address.url, db, folder / "key", file, groups))
    engine = create_app_engine(address.url)
    stack.callback(lambda: loop.run(engine.dispose()))
    month = BenchmarkMonth(
        groups, file, TenantScope(organisation.organisation_id), loop, engine, db
    )
    loop.run(create_invoices(month))
    loop.run(_load_rows(month))
    return month


def _measure_ours(
    months: Mapping[str, BenchmarkMonth],
    durations: dict[int, list[float]],
    case: str,
    _seconds: float,
) -> float:
    """Each round creates a new revision of every invoice."""
    month = months[case]
    started = time.perf_counter()
    month.loop.run(create_invoices(month))
    seconds = time.perf_counter() - started
    durations.setdefault(month.groups, []).append(seconds)
    return month.groups / seconds


async def create_invoices(month: BenchmarkMonth) -> None:
    engine = month.engine
    body = CreateInvoicesRequest(vendor="aws", group=[], bulk=True)
    actor = {"actor": "usr", "actor_name": "bench", "request_id": new_id("cmd")}
    async with transaction(engine, month.scope.organisation_id) as db:
        run_id = await start_invoice_run(db, month.scope, MONTH, body, actor=actor, key_hash=None)
    runner = JobRunner(engine, invoice_job_types(engine))
    response = await wait_for_run(engine, runner.run_now, month.scope, run_id)
    assert len(response.created) == month.groups, response.skipped[:3]


async def _load_rows(month: BenchmarkMonth) -> None:
    """Load the rows that the run inserted, so that they can be inserted again."""
    db = month.superuser
    month.invoices = await _fetch(db, SELECT_INVOICES)
    month.revisions = await _fetch(db, "SELECT * FROM invoice_revisions ORDER BY company_id")
    month.audit = await _fetch(
        db,
        f"SELECT {AUDIT_COLUMNS} FROM audit_log WHERE resource LIKE 'invoice/%' ORDER BY seq",
    )
    assert len(month.invoices) == len(month.revisions) == len(month.audit) == month.groups
    await db.execute(CREATE_TABLES)
    await db.execute("ANALYZE")  # as autovacuum does within minutes


async def _fetch(db: Any, query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in await db.fetch(query)]


def _measure_bare(months: Mapping[str, BenchmarkMonth], case: str, _seconds: float) -> float:
    month = months[case]
    started = time.perf_counter()
    assert sum_lines(month.lines) >= month.groups
    month.loop.run(_insert_rows(month))
    return month.groups / (time.perf_counter() - started)


async def _insert_rows(month: BenchmarkMonth) -> None:
    """Each round inserts a new revision of every invoice."""
    month.rounds += 1
    new_values = {"revision": month.rounds, "run_id": f"run {month.rounds}"}
    for row in month.invoices:
        row["revision"] = month.rounds
    for row in month.revisions:
        row.update(new_values)
    for row in month.audit:
        row["seq"] += month.groups
    db = month.superuser
    for start in range(0, month.groups, BATCH_GROUPS):
        batch = slice(start, start + BATCH_GROUPS)
        async with db.transaction():
            await db.executemany(
                UPSERT_INVOICE, [tuple(row.values()) for row in month.invoices[batch]]
            )
            await copy_rows(db, "bare_revisions", month.revisions[batch])
            await copy_rows(db, "bare_audit", month.audit[batch])


def _draw_growth(lines: Sequence[ComparisonLine]) -> Curve:
    return build_curve(
        lines,
        {f"{groups:,} groups": groups for groups in GROUPS},
        name="invoices",
        title="An invoice run by the number of billing groups",
        labels="billing groups, groups/s",
    )


def build_suite(lines: int) -> Suite:
    durations: dict[int, list[float]] = {}
    return Suite(
        name="invoices",
        description=f"the invoices of a month with {lines:,} stored lines",
        unit="groups/s",
        cases=tuple(f"{groups:,} groups" for groups in GROUPS),
        baseline=OURS,
        roles={BARE: "floor"},
        targets={BARE: round(MINIMUM, 2)},
        slice_seconds=0,
        contenders=partial(contenders, lines, durations),
        summary_case="1,000 groups",
        with_lines=build_suite,
        extra_rows=lambda: [
            f"- {groups:,} groups: {1000 * median(seconds) / groups:.1f} ms per group"
            for groups, seconds in sorted(durations.items())
        ],
        curves=lambda compared: [_draw_growth(compared)],
    )


SUITE = build_suite(LINES)
