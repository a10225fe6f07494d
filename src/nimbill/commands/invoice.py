"""`nimbill invoice`: make the invoices of a month and print them, with a bar to watch."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.installed import load_settings
from nimbill.application.open_database import with_engine
from nimbill.commands.month_argument import refuse_no_month
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.errors import NotFound
from nimbill.foundation.ids import new_id
from nimbill.foundation.vendors import Vendor
from nimbill.identity.users.records import find_root_user
from nimbill.invoicing.pdf.pdf_cache import write_pdf_files
from nimbill.invoicing.runs.invoice_run import invoice_job_types
from nimbill.invoicing.runs.operations import (
    CreateInvoicesRequest,
    CreateInvoicesResponse,
    start_invoice_run,
    wait_for_run,
)
from nimbill.invoicing.runs.records import find_run
from nimbill.jobs.runner import JobRunner

Switch = Annotated[bool, Parameter(negative="")]

SOME_SKIPPED = 1
WATCH_EVERY_SECONDS = 0.2

invoice = App(name="invoice", help="Invoices of a month: made, and printed.")
_out = Console(highlight=False, soft_wrap=True)


@invoice.command
def create(
    month: str,
    *groups: str,
    vendor: Vendor,
    organisation: str,
    json: Switch = False,
) -> None:
    """Make the invoices of a month, of every billing group that is ready.

    Settings and rates are saved before. Exits with 0 when every group that has accounts got its
    invoice, 1 when some were skipped, 2 when none could be made.

    Parameters
    ----------
    month
        yyyy-mm.
    groups
        The company_id of each group to make one for, instead of all.
    vendor
        Whose costs are billed.
    organisation
        Its id.
    json
        Print one JSON object and nothing else.
    """
    refuse_no_month(month)
    body = CreateInvoicesRequest(vendor=vendor, group=list(groups), bulk=not groups)
    made = with_engine(
        load_settings(), lambda engine: _created(engine, TenantScope(organisation), month, body)
    )
    if json:
        sys.stdout.buffer.write(exact_json.write(made) + b"\n")
    else:
        _show(made)
    idle = ("no_accounts",)  # nothing to bill, so nothing is amiss
    if any(skipped.reason not in idle for skipped in made.skipped):
        sys.exit(SOME_SKIPPED)


@invoice.command(name="print")
def print_(month: str, *, into: Path, organisation: str) -> None:
    """Print the invoices of a month as PDF files.

    Parameters
    ----------
    month
        yyyy-mm.
    into
        The folder they go to; made where it is not there.
    organisation
        Its id.
    """
    refuse_no_month(month)
    into.mkdir(parents=True, exist_ok=True)
    names = with_engine(
        load_settings(), lambda engine: write_pdf_files(engine, TenantScope(organisation), month, into)
    )
    _out.print(f"{len(names)} invoices in {into}", markup=False)


async def _created(
    engine: AsyncEngine, scope: TenantScope, month: str, body: CreateInvoicesRequest
) -> CreateInvoicesResponse:
    """The same run as over HTTP, made here unless a server is quicker."""
    async with transaction(engine, scope.organisation_id) as db:
        root = await find_root_user(db, scope)
        if root is None:
            raise NotFound("not_found", "there is no such organisation")
        actor = {"actor": root, "actor_name": "nimbill invoice", "request_id": new_id("cmd")}
        run_id = await start_invoice_run(db, scope, month, body, actor=actor, key_hash=None)
    runner = JobRunner(engine, invoice_job_types(engine))
    watching = asyncio.ensure_future(_watch(engine, scope, run_id))
    try:
        return await wait_for_run(engine, runner.run_now, scope, run_id)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _watch(engine: AsyncEngine, scope: TenantScope, run_id: str) -> None:
    console = Console(stderr=True)
    with Progress(
        TextColumn("invoices"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=None)
        while True:
            async with transaction(engine, scope.organisation_id) as db:
                run = await find_run(db, scope, run_id)
            if run is not None and run.progress:
                bar.update(task, total=run.groups, completed=run.progress.get("done", 0))
            await asyncio.sleep(WATCH_EVERY_SECONDS)


def _show(made: CreateInvoicesResponse) -> None:
    _out.print(f"{len(made.created)} invoices made, {len(made.skipped)} groups skipped")
    if made.skipped:
        table = Table("company_id", "reason")
        for skipped in made.skipped:
            table.add_row(skipped.company_id, skipped.reason)
        _out.print(table)
