"""Organisations of this installation, for the command line: list them, and delete one."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.application.installed import EXTENSIONS
from nimbill.audit.checkpoints import remove_checkpoints
from nimbill.costs.lake.parquet_files import Lake
from nimbill.database.tenant_deletion import delete_tenant_rows
from nimbill.database.tenant_lookup import list_organisation_ids
from nimbill.database.tenant_scope import TenantScope, create_owner_engine, set_tenant
from nimbill.foundation import clock
from nimbill.foundation.errors import Conflict
from nimbill.foundation.settings import Settings
from nimbill.identity.organisations.operations import require_organisation
from nimbill.identity.organisations.records import lock_organisation
from nimbill.identity.users.records import find_root_username
from nimbill.imports.preparation_process import working_folder
from nimbill.imports.records import list_import_ids
from nimbill.invoicing.documents.latest_invoices import find_last_issue_time
from nimbill.jobs.records import has_running_jobs
from nimbill.mail.mailer import outbox_folder

# See docs/choices.md, delete-organisation.

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class OrganisationSummary:
    organisation_id: str
    name: str
    short_name: str
    username: str | None  # of the root user
    create_time: datetime


async def list_organisations(url: str) -> list[OrganisationSummary]:
    """Oldest first."""
    async with _owner_transaction(url) as db:
        summaries = []
        for organisation_id in await list_organisation_ids(db):
            await set_tenant(db, organisation_id)
            summaries.append(await _load_summary(db, TenantScope(organisation_id)))
    return sorted(summaries, key=lambda summary: (summary.create_time, summary.organisation_id))


async def _load_summary(db: AsyncConnection, scope: TenantScope) -> OrganisationSummary:
    row = await require_organisation(db, scope)
    return OrganisationSummary(
        organisation_id=row.organisation_id,
        name=row.name,
        short_name=row.short_name,
        username=await find_root_username(db, scope),
        create_time=row.create_time,
    )


async def delete_organisation(
    url: str, settings: Settings, organisation_id: str, ask_for_name: Callable[[str], str]
) -> int:
    """Delete all rows in one transaction, then all files; return the number of rows.

    `ask_for_name` receives the organisation's name and returns what the operator typed.
    """
    scope = TenantScope(organisation_id)
    async with _owner_transaction(url) as db:
        await set_tenant(db, organisation_id)
        name = (await require_organisation(db, scope)).name
        await _refuse_deletion(db, scope, settings)
    if ask_for_name(name).strip() != name:
        raise Conflict("not_confirmed", "The typed name differs; nothing was deleted.")
    async with _owner_transaction(url) as db:
        await set_tenant(db, organisation_id)
        await lock_organisation(db, scope)  # waits for changes under way and keeps out new ones
        await require_organisation(db, scope)
        await _refuse_deletion(db, scope, settings)
        import_ids = await list_import_ids(db, scope)
        rows = await delete_tenant_rows(db, scope)
    await asyncio.to_thread(_remove_files, settings, scope, import_ids)
    log.warning("organisation_deleted", organisation_id=organisation_id, rows=rows)
    return rows


async def _refuse_deletion(db: AsyncConnection, scope: TenantScope, settings: Settings) -> None:
    issued_at = await find_last_issue_time(db, scope)
    if issued_at is not None:
        kept_until = add_years(issued_at, settings.retention_years)
        if clock.now() < kept_until:
            raise Conflict(
                "retention_period",
                f"The organisation has invoices that must be kept until {kept_until:%Y-%m-%d}. "
                "NIMBILL_RETENTION_YEARS is the retention period.",
            )
    if await has_running_jobs(db, scope, at=clock.now()):
        raise Conflict("job_running", "A job of the organisation is running. Try again later.")
    for extension in EXTENSIONS:
        obstacle = await extension.find_deletion_obstacle(db, scope)
        if obstacle is not None:
            raise Conflict("still_in_use", obstacle)


def add_years(time: datetime, years: int) -> datetime:
    """The same day of a later year; 1 March in place of 29 February."""
    try:
        return time.replace(year=time.year + years)
    except ValueError:
        return time.replace(year=time.year + years, month=3, day=1)


def _remove_files(settings: Settings, scope: TenantScope, import_ids: list[str]) -> None:
    """Files without rows do not count, so a failure here leaves nothing but unused files."""
    lake = Lake(settings.lake_url)
    lake.remove(lake.list_names(scope.organisation_id))
    for import_id in import_ids:
        shutil.rmtree(working_folder(settings, import_id), ignore_errors=True)
    shutil.rmtree(outbox_folder(settings, scope), ignore_errors=True)
    remove_checkpoints(settings.data / "audit", scope.organisation_id)


@asynccontextmanager
async def _owner_transaction(url: str) -> AsyncIterator[AsyncConnection]:
    engine = create_owner_engine(url)
    try:
        async with engine.begin() as db:
            yield db
    finally:
        await engine.dispose()
