"""How the work loop takes months in, and clears away what an import leaves behind."""

import asyncio
import shutil

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.costs.lake import records as costs
from nimbill.costs.lake.parquet_files import Lake
from nimbill.database.tenant_scope import transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.settings import Settings
from nimbill.imports import records
from nimbill.imports.bodies import ImportState
from nimbill.imports.commit_import import (
    REMOVE_LAKE_FILES,
    TIDY_UP,
    commit_import,
    folder_of_import,
)
from nimbill.imports.preparation import ImportRequest, PreparedImport
from nimbill.imports.preparation_process import prepared_by_process
from nimbill.jobs.runner import Job, JobType, ReportProgress

basis = chosen("cost-imports")

ATTEMPTS_MAX = 4


def import_job_types(settings: Settings, engine: AsyncEngine) -> list[JobType]:
    return [_import_kind(settings, engine), _removal_kind(settings), _tidy_kind(settings)]


def _import_kind(settings: Settings, engine: AsyncEngine) -> JobType:
    """How the work loop takes a month in."""

    async def prepare(taken: Job, tell: ReportProgress) -> PreparedImport:
        async with transaction(engine, taken.scope.organisation_id) as db:
            asked = await _asked(db, settings, taken)
            await records.change_import(db, taken.scope, taken.subject, state=ImportState.running)
        return await prepared_by_process(settings, asked, tell)

    async def take_in(db: AsyncConnection, taken: Job) -> None:
        await commit_import(db, settings, taken.scope, taken.subject, taken.prepared)

    async def give_up(db: AsyncConnection, taken: Job) -> None:
        problem = {"status": 500, "code": "failed", "detail": "it failed again and again"}
        await records.change_import(
            db, taken.scope, taken.subject, state=ImportState.failed, problem=problem
        )

    return JobType(
        records.IMPORT_COSTS,
        take_in,
        attempts_max=ATTEMPTS_MAX,
        prepare=prepare,
        give_up=give_up,
    )


def _removal_kind(settings: Settings) -> JobType:
    """Files that were left behind go once nobody can be reading them."""

    async def remove(_db: AsyncConnection, taken: Job) -> None:
        await asyncio.to_thread(Lake(settings.lake_url).remove, taken.payload["files"])

    return JobType(REMOVE_LAKE_FILES, remove)


def _tidy_kind(settings: Settings) -> JobType:
    """What was uploaded, and what was worked out in between, is needed no longer."""

    async def tidy(_db: AsyncConnection, taken: Job) -> None:
        folder = folder_of_import(settings, taken.payload["import_id"])
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    return JobType(TIDY_UP, tidy)


async def _asked(db: AsyncConnection, settings: Settings, taken: Job) -> ImportRequest:
    row = await records.lock_import(db, taken.scope, taken.subject)
    assert row is not None, "an import is never deleted"
    released = row.release_reason is not None
    return ImportRequest(
        organisation_id=taken.scope.organisation_id,
        import_id=row.import_id,
        vendor=row.vendor,
        month=row.month,
        sources=list(taken.payload["sources"]),
        roots=taken.payload["roots"],
        folder=str(folder_of_import(settings, row.import_id)),
        known=dict(await records.known_deliveries(db, taken.scope, row.vendor)),
        lake_files=await costs.files_of(db, taken.scope, row.import_id) if released else [],
    )
