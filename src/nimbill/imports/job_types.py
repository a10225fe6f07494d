"""Job types of imports: import a month, sum it by tags, remove unused files and folders."""

import asyncio
import shutil
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.costs.lake import records as lake_records
from nimbill.costs.lake.parquet_files import Lake
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.customers.organisation_settings.report_tag_rules import FIND_STALE_TAGS
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.foundation.settings import Settings
from nimbill.foundation.vendor_names import list_provider_names
from nimbill.imports import records
from nimbill.imports.allowed_roots import load_import_roots
from nimbill.imports.bodies import ImportState
from nimbill.imports.commit_import import REMOVE_LAKE_FILES, commit_import, fail_import
from nimbill.imports.import_failure import describe_failure
from nimbill.imports.preparation import ImportRequest, PreparedImport
from nimbill.imports.preparation_process import (
    REMOVE_WORKING_FOLDER,
    run_preparation,
    working_folder,
)
from nimbill.imports.tagged_sums_jobs import tagged_sums_job_types
from nimbill.jobs.records import add_job
from nimbill.jobs.runner import Job, JobType, ReportProgress

ATTEMPTS_MAX = 4

UNKNOWN_CAUSE = "The log contains the reason."


def import_job_types(
    settings: Settings, engine: AsyncEngine, *, attempts_max: int = ATTEMPTS_MAX
) -> list[JobType]:
    return [
        _import_job_type(settings, engine, attempts_max),
        _lake_file_removal_job_type(settings),
        _working_folder_removal_job_type(settings),
        *tagged_sums_job_types(settings, engine),
    ]


def _import_job_type(settings: Settings, engine: AsyncEngine, attempts_max: int) -> JobType:
    async def prepare(job: Job, report_progress: ReportProgress) -> PreparedImport:
        async with transaction(engine, job.scope.organisation_id) as db:
            request = await _build_request(db, settings, job)
            await records.change_import(db, job.scope, job.subject, state=ImportState.running)
        return await run_preparation(settings, request, report_progress)

    async def commit(db: AsyncConnection, job: Job) -> None:
        await commit_import(db, settings, job.scope, job.subject, job.prepared)
        await _check_tag_keys(db, job)

    async def mark_failed(db: AsyncConnection, job: Job) -> None:
        """The import is marked as failed, or parked again if it had been released."""
        await fail_import(db, job.scope, job.subject, _build_problem(job))

    return JobType(
        records.IMPORT_COSTS,
        commit,
        attempts_max=attempts_max,
        prepare=prepare,
        on_failure=mark_failed,
        one_per_organisation=True,
    )


async def _check_tag_keys(db: AsyncConnection, job: Job) -> None:
    """The setting may have changed while the import was prepared."""
    prepared: PreparedImport = job.prepared
    keys = (await load_settings(db, job.scope)).report_tag_keys
    if prepared.payers and prepared.tag_keys != keys:
        await add_job(db, job.scope, FIND_STALE_TAGS, due=clock.now())


def _build_problem(job: Job) -> dict[str, Any]:
    cause = describe_failure(job.failure) if job.failure is not None else None
    detail = f"The import failed. {cause or UNKNOWN_CAUSE}"
    return {"status": 500, "code": "failed", "detail": detail}


def _lake_file_removal_job_type(settings: Settings) -> JobType:
    async def remove(_db: AsyncConnection, job: Job) -> None:
        lake = Lake(settings.lake_url)
        if "files" in job.payload:
            await asyncio.to_thread(lake.remove, job.payload["files"])
        else:
            await asyncio.to_thread(lake.remove_import, **job.payload)

    return JobType(REMOVE_LAKE_FILES, remove)


def _working_folder_removal_job_type(settings: Settings) -> JobType:
    async def remove(_db: AsyncConnection, job: Job) -> None:
        folder = working_folder(settings, job.payload["import_id"])
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    return JobType(REMOVE_WORKING_FOLDER, remove)


async def _build_request(db: AsyncConnection, settings: Settings, job: Job) -> ImportRequest:
    row = await records.lock_import(db, job.scope, job.subject)
    assert row is not None, "an import is never deleted"
    is_released = row.release_reason is not None
    lake_files = (
        await lake_records.list_files(db, job.scope, row.import_id) if is_released else None
    )
    roots = job.payload["roots"]
    if roots is not None and not row.uploaded:
        # The settings and the number of organisations may have changed since the request.
        roots = await load_import_roots(db, settings, job.scope)
    organisation_settings = await load_settings(db, job.scope)
    return ImportRequest(
        organisation_id=job.scope.organisation_id,
        import_id=row.import_id,
        vendor=row.vendor,
        month=row.month,
        sources=list(job.payload["sources"]),
        roots=roots,
        folder=str(working_folder(settings, row.import_id)),
        known_deliveries=dict(await records.load_known_deliveries(db, job.scope, row.vendor)),
        lake_files=lake_files,
        providers=list_provider_names(row.vendor, organisation_settings.provider_names),
        tag_keys=organisation_settings.report_tag_keys,
    )
