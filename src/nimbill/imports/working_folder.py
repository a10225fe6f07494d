"""The folder in which an import keeps uploads and intermediate results until it is finished."""

from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation import clock
from nimbill.foundation.settings import Settings
from nimbill.jobs.records import add_job

REMOVE_WORKING_FOLDER = "remove_import_folder"


def working_folder(settings: Settings, import_id: str) -> Path:
    return settings.data / "imports" / import_id


async def schedule_folder_removal(db: AsyncConnection, scope: TenantScope, import_id: str) -> None:
    await add_job(
        db,
        scope,
        REMOVE_WORKING_FOLDER,
        due=clock.now(),
        subject=import_id,
        payload={"import_id": import_id},
    )
