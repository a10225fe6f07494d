"""Runs an import or an invoice run from the command line and waits for its end.

The run is created like a run of the HTTP API. A server process may take its job first; then this
process only waits for the result.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.audit import records as audit
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.errors import NotFound, Violation, refuse_if
from nimbill.foundation.ids import new_id
from nimbill.foundation.settings import Settings
from nimbill.foundation.vendor_names import VENDORS, VendorRule
from nimbill.identity.users.records import find_root_user
from nimbill.imports.job_types import import_job_types
from nimbill.imports.operations import start_import
from nimbill.imports.records import ImportRecord, ImportState, NewImport, find_import
from nimbill.invoicing.runs.invoice_run import invoice_job_types
from nimbill.invoicing.runs.operations import (
    CreateInvoicesRequest,
    CreateInvoicesResponse,
    start_invoice_run,
    wait_for_run,
)
from nimbill.invoicing.runs.records import find_run
from nimbill.jobs.runner import LONG, JobRunner

POLL_SECONDS = 0.2
UNFINISHED_STATES = (ImportState.waiting, ImportState.running)


@dataclass(frozen=True, slots=True)
class ImportFiles:
    vendor: str
    month: str | None
    sources: Sequence[str]


async def run_import(
    engine: AsyncEngine,
    settings: Settings,
    scope: TenantScope,
    files: ImportFiles,
    on_progress: Callable[[ImportRecord], None],
) -> ImportRecord:
    import_id = await _start_import(engine, scope, files)
    # One attempt: the person who waits can remove the cause and start the command again.
    runner = JobRunner(engine, import_job_types(settings, engine, attempts_max=1))
    async with _background(_run_jobs(runner, scope)) as jobs:
        while True:
            async with transaction(engine, scope.organisation_id) as db:
                record = await find_import(db, scope, import_id)
            assert record is not None, "the import was committed"
            if record.state not in UNFINISHED_STATES:
                return record
            on_progress(record)
            if jobs.done():  # it ends only with an error, for example of the database
                jobs.result()
            await asyncio.sleep(POLL_SECONDS)


async def _start_import(engine: AsyncEngine, scope: TenantScope, files: ImportFiles) -> str:
    import_id = new_id("imp")
    async with transaction(engine, scope.organisation_id) as db:
        root_user = await _load_root_user(db, scope)
        await start_import(
            db,
            scope,
            NewImport(
                import_id=import_id,
                vendor=files.vendor,
                month=files.month,
                sources=files.sources,
                source_names=files.sources,
                roots=None,
                created_by=root_user,
            ),
        )
        await audit.append_entry(
            db,
            actor=root_user,
            actor_name="nimbill import",
            action="create_import",
            resource=f"costs/imports/{import_id}",
            request_id=import_id,
            sent={"vendor": files.vendor, "month": files.month, "sources": list(files.sources)},
        )
    return import_id


async def run_invoices(
    engine: AsyncEngine,
    scope: TenantScope,
    month: str,
    body: CreateInvoicesRequest,
    on_progress: Callable[[int, int], None],
) -> CreateInvoicesResponse:
    """`on_progress` receives the number of finished groups and of all groups."""
    async with transaction(engine, scope.organisation_id) as db:
        root_user = await _load_root_user(db, scope)
        actor = {
            "actor": root_user,
            "actor_name": "nimbill invoice",
            "request_id": new_id("cmd"),
        }
        rule = VendorRule(VENDORS)
        enabled = await load_vendors(db, scope)
        if body.vendor not in rule.list_names(enabled):
            refuse_if([Violation("vendor", rule.describe(enabled))])
        run_id = await start_invoice_run(db, scope, month, body, actor=actor, key_hash=None)
    runner = JobRunner(engine, invoice_job_types(engine))
    async with _background(_report_run(engine, scope, run_id, on_progress)):
        return await wait_for_run(engine, runner.run_now, scope, run_id)


async def _report_run(
    engine: AsyncEngine, scope: TenantScope, run_id: str, on_progress: Callable[[int, int], None]
) -> None:
    while True:
        async with transaction(engine, scope.organisation_id) as db:
            run = await find_run(db, scope, run_id)
        if run is not None and run.progress:
            on_progress(run.progress.get("done", 0), run.groups)
        await asyncio.sleep(POLL_SECONDS)


async def _run_jobs(runner: JobRunner, scope: TenantScope) -> None:
    """Runs long jobs only; the clean-up after an import is left to a server or the next import."""
    while True:
        if not await runner.run_next(scope, lane=LONG):
            await asyncio.sleep(POLL_SECONDS)


@asynccontextmanager
async def _background(work: Coroutine[Any, Any, None]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _load_root_user(db: AsyncConnection, scope: TenantScope) -> str:
    root_user = await find_root_user(db, scope)
    if root_user is None:
        raise NotFound("not_found", "No organisation has this id.")
    return root_user
