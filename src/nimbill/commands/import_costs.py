"""`nimbill import`: take a month of costs in, watch it, and read what came out."""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console, JustifyMethod
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.installed import load_settings
from nimbill.application.open_database import with_engine
from nimbill.audit import records as audit
from nimbill.commands.month_argument import refuse_no_month
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid, NotFound
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.foundation.vendors import Vendor
from nimbill.identity.users.records import find_root_user
from nimbill.imports.job_types import import_job_types
from nimbill.imports.operations import start_import
from nimbill.imports.records import ImportRecord, ImportState, find_import
from nimbill.jobs.runner import LONG, JobRunner

Switch = Annotated[bool, Parameter(negative="")]

LOOK_AT_IT = 1  # it came in, and somebody has to decide
REFUSED = 2
EXIT_CODES = {
    ImportState.done: 0,
    ImportState.unchanged: 0,
    ImportState.parked: LOOK_AT_IT,
    ImportState.drift: LOOK_AT_IT,
    ImportState.refused: REFUSED,
    ImportState.failed: REFUSED,
}
WATCH_EVERY_SECONDS = 0.2

_out = Console(highlight=False, soft_wrap=True)


def import_(
    *paths: str,
    vendor: Vendor,
    organisation: str,
    month: str | None = None,
    json: Switch = False,
) -> None:
    """Take a month of the vendors' costs in: as a whole, or not at all.

    Exits with 0 when it is in or was already, 1 when somebody has to look at it (parked, or a
    closed month that changed), 2 when it was refused.

    Parameters
    ----------
    paths
        Files, folders with their manifest, or s3://bucket/prefix.
    vendor
        Whose costs they are.
    organisation
        Its id.
    month
        yyyy-mm, where the files hold more than one.
    json
        Print one JSON object and nothing else.
    """
    if not paths:
        raise Invalid("rule_broken", "name a file, a folder or an address", [])
    if month is not None:
        refuse_no_month(month)
    settings = load_settings()
    sources = [path if "://" in path else str(Path(path).absolute()) for path in paths]

    record, seconds = with_engine(
        settings,
        lambda engine: _imported(
            engine, settings, organisation, vendor=vendor, month=month, sources=sources
        ),
    )
    if json:
        sys.stdout.buffer.write(exact_json.write(record) + b"\n")
    else:
        _show(record, seconds)
    sys.exit(EXIT_CODES[ImportState(record.state)])


async def _imported(
    engine: AsyncEngine,
    settings: Settings,
    organisation_id: str,
    *,
    vendor: str,
    month: str | None,
    sources: Sequence[str],
) -> tuple[ImportRecord, float]:
    """Put in line as any import is, then done here, unless a server is quicker."""
    scope, import_id = TenantScope(organisation_id), new_id("imp")
    async with transaction(engine, organisation_id) as db:
        root = await find_root_user(db, scope)
        if root is None:
            raise NotFound("not_found", "there is no such organisation")
        await start_import(
            db,
            scope,
            import_id,
            vendor=vendor,
            month=month,
            sources=sources,
            shown=sources,
            roots=None,
            made_by=root,
        )
        await audit.append_entry(
            db,
            actor=root,
            actor_name="nimbill import",
            action="create_import",
            resource=f"costs/imports/{import_id}",
            request_id=import_id,
            sent={"vendor": vendor, "month": month, "sources": list(sources)},
        )
    began = time.monotonic()
    doing = asyncio.ensure_future(_work(engine, settings, scope))
    try:
        record = await _watched(engine, scope, import_id)
    finally:
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
    return record, time.monotonic() - began


async def _work(engine: AsyncEngine, settings: Settings, scope: TenantScope) -> None:
    """What is left to tidy up afterwards waits for a server, or for the next import."""
    runner = JobRunner(engine, import_job_types(settings, engine))
    while True:
        if not await runner.run_next(scope, lane=LONG):
            await asyncio.sleep(WATCH_EVERY_SECONDS)


async def _watched(engine: AsyncEngine, scope: TenantScope, import_id: str) -> ImportRecord:
    """Until it is over, whichever process does it."""
    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} lines, {task.fields[pace]:,.0f} a second"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        task, began = bar.add_task("waiting", total=None, pace=0), time.monotonic()
        while True:
            async with transaction(engine, scope.organisation_id) as db:
                record = await find_import(db, scope, import_id)
            assert record is not None, "it was committed before"
            if ImportState(record.state) in EXIT_CODES:
                return record
            lines = record.progress.get("lines", 0)
            pace = lines / max(time.monotonic() - began, 0.001)
            step = record.progress.get("step", record.state)
            bar.update(task, description=step, completed=lines, pace=pace)
            await asyncio.sleep(WATCH_EVERY_SECONDS)


# ── what is shown ────────────────────────────────────────────────────────────────────────────────


def _show(record: ImportRecord, seconds: float) -> None:
    pace = record.lines / max(seconds, 0.001)
    _out.print(
        f"{record.state}: {record.vendor} {record.month or ''}, {record.lines:,} lines in "
        f"{seconds:.1f} s ({pace:,.0f} a second), import {record.import_id}"
    )
    if record.totals:
        table = Table()
        for name in ("payer", "line type", "kind", "currency", "cost", "lines"):
            right = name in ("cost", "lines")
            justify: JustifyMethod = "right" if right else "left"
            table.add_column(name, overflow="fold", justify=justify, no_wrap=right)
        for total in record.totals:
            table.add_row(
                total.payer_id,
                total.line_type,
                total.kind,
                total.currency,
                f"{total.cost:f}",
                f"{total.lines:,}",
            )
        _out.print(table)
    for sentence in _sentences(record):
        _out.print(sentence, markup=False)


def _sentences(record: ImportRecord) -> list[str]:
    """What somebody should know, and nothing where there is nothing."""
    told = []
    if record.provisional:
        told.append("provisional: the vendor has not invoiced all of it yet")
    if record.unknown_types:
        types = ", ".join(f"{name} ({lines})" for name, lines in record.unknown_types.items())
        told.append(f"unknown line types, billed to nobody: {types}")
    if record.accounts_in_no_group:
        accounts = record.accounts_in_no_group
        told.append(f"{len(accounts)} accounts in no billing group: {', '.join(accounts[:10])}")
    others = record.noticed.get("other_vendors", {})
    if others:
        told.append(f"lines of other vendors, left out: {others}")
    if record.drift:
        told.append(f"the month is closed and was not changed; {len(record.drift)} sums differ")
    for one in record.proposals:
        amount = f"{one.amount:f} {one.currency}"
        told.append(
            f"proposed: {one.calc_type} of {amount} to {one.customer_id}: {one.description}"
        )
    if record.parked_reason:
        told.append(f"parked: {record.parked_reason}")
    if record.problem is not None:
        problem = record.problem
        place = [problem.file or "", f"line {problem.line}" if problem.line else ""]
        place += [f"column {problem.column}" if problem.column else ""]
        where = ", ".join(part for part in place if part)
        told.append(f"{where + ': ' if where else ''}{problem.detail} ({problem.code})")
    return told
