"""Making a month's invoices, beside the bare sums over the stored lines and the bare writing."""

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

from bench.example_month import MONTH, bare_sums, connected, copy, furnish, write_lines
from bench.rounds import Contender, Suite
from nimbill.database.embedded_postgres import embedded_postgres, superuser_address
from nimbill.database.tenant_scope import TenantScope, engine_for, transaction
from nimbill.foundation.ids import new_id
from nimbill.invoicing.runs.invoice_run import GROUPS_AT_ONCE, invoice_job_types
from nimbill.invoicing.runs.operations import InvoicesToCreate, ask_for_invoices, finished_run
from nimbill.jobs.runner import JobRunner

OURS, FLOOR = "nimbill", "bare sums and rows"
WHAT = {
    OURS: "a bulk run in a service that is up, from asking for it to its answer",
    FLOOR: "bare DuckDB sums over the lines, then the same rows written into tables with the same "
    "columns and indexes over an open connection, by COPY where nothing is replaced, "
    f"{GROUPS_AT_ONCE} groups in a commit",
}
LINES = 10_000_000
GROUPS = (100, 1_000, 5_000)
LEAST = 1 / 1.5
TABLES = """
CREATE TABLE floor_heads (LIKE invoices INCLUDING ALL);
CREATE TABLE floor_revisions (LIKE invoice_revisions INCLUDING ALL);
CREATE TABLE floor_audit (LIKE audit_log INCLUDING ALL);
"""
HEADS = """
INSERT INTO floor_heads VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (organisation_id, month, company_id, vendor)
    DO UPDATE SET revision = excluded.revision, update_time = excluded.update_time
"""
AUDIT = "organisation_id, seq, entry, hash"  # the database makes the other columns of these


@dataclass
class Month:
    """One month of so many groups, in a database of its own."""

    groups: int
    lines: Path
    scope: TenantScope
    loop: asyncio.Runner
    engine: AsyncEngine
    superuser: Any  # a connection past every wall
    heads: list[dict[str, Any]] = field(default_factory=list)
    revisions: list[dict[str, Any]] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    rounds: int = 0


@contextmanager
def contenders(lines: int, took: dict[int, list[float]]) -> Iterator[Sequence[Contender]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="nimbill-bench-")))
        months: dict[str, Month] = {}
        for groups in GROUPS:
            months[f"{groups:,} groups"] = _furnished(stack, folder / str(groups), groups, lines)
        yield [
            Contender(OURS, WHAT[OURS], partial(_ours, months, took)),
            Contender(FLOOR, WHAT[FLOOR], partial(_floor, months)),
        ]


def _furnished(stack: ExitStack, folder: Path, groups: int, lines: int) -> Month:
    folder.mkdir()
    file = folder / "lines.parquet"
    write_lines(file, groups=groups, lines=lines)
    address = stack.enter_context(embedded_postgres(folder / "postgres"))
    loop = stack.enter_context(asyncio.Runner())
    db = loop.run(connected(superuser_address(folder / "postgres")))
    stack.callback(lambda: loop.run(db.close()))
    made = loop.run(furnish(address.url, db, folder / "key", file, groups))
    engine = engine_for(address.url)
    stack.callback(lambda: loop.run(engine.dispose()))
    month = Month(groups, file, TenantScope(made.organisation_id), loop, engine, db)
    loop.run(_make(month))
    loop.run(_look(month))
    return month


def _ours(
    months: Mapping[str, Month], took: dict[int, list[float]], case: str, _seconds: float
) -> float:
    """Each round makes another revision of every invoice."""
    month = months[case]
    began = time.perf_counter()
    month.loop.run(_make(month))
    seconds = time.perf_counter() - began
    took.setdefault(month.groups, []).append(seconds)
    return month.groups / seconds


async def _make(month: Month) -> None:
    engine = month.engine
    body = InvoicesToCreate(vendor="aws", group=[], bulk=True)
    actor = {"actor": "usr", "actor_name": "bench", "request_id": new_id("cmd")}
    async with transaction(engine, month.scope.organisation_id) as db:
        run_id = await ask_for_invoices(db, month.scope, MONTH, body, actor=actor, key_hash=None)
    runner = JobRunner(engine, invoice_job_types(engine))
    made = await finished_run(engine, runner.do_now, month.scope, run_id)
    assert len(made.created) == month.groups, made.skipped[:3]


async def _look(month: Month) -> None:
    """What was written, to be written again."""
    db = month.superuser
    month.heads = await _rows(db, "SELECT * FROM invoices ORDER BY number")
    month.revisions = await _rows(db, "SELECT * FROM invoice_revisions ORDER BY company_id")
    month.audit = await _rows(
        db,
        f"SELECT {AUDIT} FROM audit_log WHERE resource LIKE 'invoice/%' ORDER BY seq",
    )
    assert len(month.heads) == len(month.revisions) == len(month.audit) == month.groups
    await db.execute(TABLES)
    await db.execute("ANALYZE")  # as the database does by itself within a minute or so


async def _rows(db: Any, question: str) -> list[dict[str, Any]]:
    return [dict(row) for row in await db.fetch(question)]


def _floor(months: Mapping[str, Month], case: str, _seconds: float) -> float:
    month = months[case]
    began = time.perf_counter()
    assert bare_sums(month.lines) >= month.groups
    month.loop.run(_write(month))
    return month.groups / (time.perf_counter() - began)


async def _write(month: Month) -> None:
    """Each round another revision of every invoice."""
    month.rounds += 1
    another = {"revision": month.rounds, "run_id": f"run {month.rounds}"}
    for row in month.heads:
        row["revision"] = month.rounds
    for row in month.revisions:
        row.update(another)
    for row in month.audit:
        row["seq"] += month.groups
    db = month.superuser
    for start in range(0, month.groups, GROUPS_AT_ONCE):
        some = slice(start, start + GROUPS_AT_ONCE)
        async with db.transaction():
            await db.executemany(HEADS, [tuple(row.values()) for row in month.heads[some]])
            await copy(db, "floor_revisions", month.revisions[some])
            await copy(db, "floor_audit", month.audit[some])


def of_lines(lines: int) -> Suite:
    took: dict[int, list[float]] = {}
    return Suite(
        name="invoices",
        what=f"a month's invoices over {lines:,} stored lines",
        unit="groups/s",
        cases=tuple(f"{groups:,} groups" for groups in GROUPS),
        ours=OURS,
        aims={FLOOR: round(LEAST, 2)},
        slice_seconds=0,
        contenders=partial(contenders, lines, took),
        of_lines=of_lines,
        more=lambda: [
            f"- {groups:,} groups: {1000 * median(seconds) / groups:.1f} ms a group"
            for groups, seconds in sorted(took.items())
        ],
    )


SUITE = of_lines(LINES)
