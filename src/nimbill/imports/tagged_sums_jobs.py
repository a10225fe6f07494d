"""Jobs that sum stored months again by the tag keys of reports, after the setting has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from nimbill.costs.lake.bulk_copy import ROWS_PER_STATEMENT
from nimbill.costs.lake.line_queries import group_files
from nimbill.costs.lake.records import CurrentLakeFile, list_current_files
from nimbill.costs.lake.tagged_sum_records import (
    are_tagged_sums_complete,
    list_stale_periods,
    replace_tagged_sums,
)
from nimbill.costs.months.records import lock_month
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.customers.organisation_settings.report_tag_rules import FIND_STALE_TAGS
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import clock
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.settings import Settings
from nimbill.imports.import_failure import PreparationFailed
from nimbill.imports.preparation import ImportRequest
from nimbill.imports.preparation_process import (
    run_preparation,
    schedule_folder_removal,
    working_folder,
)
from nimbill.jobs.records import add_job
from nimbill.jobs.runner import Job, JobType, ReportProgress

if TYPE_CHECKING:
    import pyarrow as pa


STORE_TAGGED_SUMS = "store_tagged_sums"


@dataclass(frozen=True, slots=True)
class SummedFiles:
    """Files that count for the same payers, and the folder with their sums."""

    payers: frozenset[str]
    paths: Sequence[str]
    folder: Path


@dataclass(frozen=True, slots=True)
class PreparedTags:
    keys: Sequence[str]
    files: Sequence[CurrentLakeFile]  # that counted when they were summed
    summed: Sequence[SummedFiles]


def tagged_sums_job_types(settings: Settings, engine: AsyncEngine) -> list[JobType]:
    async def prepare(job: Job, report_progress: ReportProgress) -> PreparedTags:
        async with transaction(engine, job.scope.organisation_id) as db:
            prepared = await _list_work(db, settings, job)
        for summed in prepared.summed if prepared.keys else ():
            request = _build_request(job, prepared.keys, summed)
            result = await run_preparation(settings, request, report_progress)
            if result.problem is not None:
                raise PreparationFailed(result.problem["detail"])
        return prepared

    async def remove_folder(db: AsyncConnection, job: Job) -> None:
        """The working folder is removed; the month keeps its earlier sums."""
        await schedule_folder_removal(db, job.scope, job.job_id)

    return [
        JobType(FIND_STALE_TAGS, _add_jobs_of_months),
        JobType(
            STORE_TAGGED_SUMS,
            commit_tagged_sums,
            prepare=prepare,
            on_failure=remove_folder,
            one_per_organisation=True,
        ),
    ]


async def _add_jobs_of_months(db: AsyncConnection, job: Job) -> None:
    """One job for each month, so that an unreadable month does not stop the others."""
    keys = (await load_settings(db, job.scope)).report_tag_keys
    for period in await list_stale_periods(db, job.scope, keys):
        payload = {"vendor": period.vendor, "month": period.month}
        await add_job(db, job.scope, STORE_TAGGED_SUMS, due=clock.now(), payload=payload)


async def _list_work(db: AsyncConnection, settings: Settings, job: Job) -> PreparedTags:
    files = await list_current_files(db, job.scope, job.payload["month"], job.payload["vendor"])
    folder = working_folder(settings, job.job_id)
    return PreparedTags(
        keys=(await load_settings(db, job.scope)).report_tag_keys,
        files=files,
        summed=[
            SummedFiles(payers, paths, folder / str(number))
            for number, ((_, payers), paths) in enumerate(group_files(files).items())
        ],
    )


def _build_request(job: Job, keys: Sequence[str], summed: SummedFiles) -> ImportRequest:
    return ImportRequest(
        organisation_id=job.scope.organisation_id,
        import_id=job.job_id,
        vendor=job.payload["vendor"],
        month=job.payload["month"],
        sources=[],
        roots=[],
        folder=str(summed.folder),
        known_deliveries={},
        lake_files=list(summed.paths),
        tag_keys=list(keys),
        tagged_sums_only=True,
    )


async def commit_tagged_sums(db: AsyncConnection, job: Job) -> None:
    """Store the sums, unless the month was imported again meanwhile: then they are stored."""
    prepared: PreparedTags = job.prepared
    period = BillingPeriod(job.payload["month"], job.payload["vendor"])
    await lock_month(db, job.scope, period)
    files = await list_current_files(db, job.scope, period.month, period.vendor)
    if files == prepared.files:
        for summed in prepared.summed:
            await replace_tagged_sums(
                db,
                job.scope,
                period,
                payers=summed.payers,
                keys=prepared.keys,
                batches=_read_sums(summed) if prepared.keys else (),
            )
            is_complete = await are_tagged_sums_complete(db, job.scope, period, summed.payers)
            if prepared.keys and not is_complete:
                raise PreparationFailed("The tagged sums differ from the stored sums.")
    await schedule_folder_removal(db, job.scope, job.job_id)


def _read_sums(summed: SummedFiles) -> Iterator[pa.RecordBatch]:
    """A file may also contain lines of payers whose later import counts."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    payers = pa.array(sorted(summed.payers), pa.string())
    with pq.ParquetFile(summed.folder / "tagged_sums.parquet", pre_buffer=False) as file:
        for batch in file.iter_batches(ROWS_PER_STATEMENT):
            yield batch.filter(pc.is_in(batch["payer_id"], payers))
