"""What happens to the files of an import that is refused or fails."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation import clock
from nimbill.imports import records
from nimbill.imports.bodies import ImportState
from nimbill.imports.import_events import ImportOutcome, announce_imports
from nimbill.imports.working_folder import schedule_folder_removal
from nimbill.jobs.records import add_job

REMOVE_LAKE_FILES = "remove_lake_files"


async def fail_import(
    db: AsyncConnection, scope: TenantScope, import_id: str, problem: dict[str, Any]
) -> None:
    """Mark an import as failed; remove its working folder and the files it left in the lake.

    A released import is parked again: only another release can free its month.
    """
    row = await records.lock_import(db, scope, import_id)
    assert row is not None, "an import is never deleted"
    if row.release_reason is not None:
        await records.change_import(
            db, scope, import_id, state=ImportState.parked, release_reason=None
        )
        await announce_imports(db, scope, ImportOutcome(row, ImportState.parked))
        return
    await records.change_import(db, scope, import_id, state=ImportState.failed, problem=problem)
    await schedule_folder_removal(db, scope, import_id)
    await remove_unrecorded_files(db, scope, row)
    await announce_imports(db, scope, ImportOutcome(row, ImportState.failed, problem=problem))


async def remove_unrecorded_files(db: AsyncConnection, scope: TenantScope, row: Row) -> None:
    """An interrupted preparation may have left files in the lake; no record names them."""
    if row.release_reason is not None:  # the files of a parked import have a record
        return
    files = {
        "organisation_id": scope.organisation_id,
        "vendor": row.vendor,
        "import_id": row.import_id,
    }
    await add_job(
        db, scope, REMOVE_LAKE_FILES, due=clock.now(), subject=row.import_id, payload=files
    )
