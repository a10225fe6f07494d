"""`nimbill export`: write imported costs as a file for other programs."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.open_database import run_with_engine
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import print_text
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.costs.lake.lake_error import LakeError
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile, list_current_files
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, NotFound
from nimbill.foundation.failure_causes import describe_os_error
from nimbill.identity.organisations.operations import require_organisation

basis = chosen("focus-export")

export = App(name="export", help="Files for other programs.")


@export.command
def focus(
    month: str,
    /,
    *,
    organisation: str,
    vendor: Literal["aws", "azure", "gcp"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> None:
    """Write the cost lines of a month as a FOCUS 1.2 Parquet file.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    organisation
        Id of the organisation.
    vendor
        Export the lines of one vendor only.
    output
        The file to write; focus-MONTH.parquet in this folder by default.
    """
    refuse_invalid_month(month)
    settings = load_command_settings()
    files = run_with_engine(
        settings,
        lambda engine, _: _list_files(engine, organisation, month, vendor),
        migrates=False,
    )
    if not files:
        raise NotFound("nothing_imported", "No costs were imported for this month.")
    # Imported late because it loads large libraries.
    from nimbill.costs.focus_export import default_file_name, write_focus_file

    path = output or Path(default_file_name(month, vendor))
    try:
        lines = write_focus_file(Lake(settings.lake_url), files, month, path)
    except OSError as error:
        reason = (
            error.cause if isinstance(error, LakeError) else describe_os_error(error, str(path))
        )
        raise Conflict("not_written", f"The file was not written. {reason}") from error
    print_text(f"{path}: {lines} lines")


async def _list_files(
    engine: AsyncEngine, organisation_id: str, month: str, vendor: str | None
) -> list[CurrentLakeFile]:
    scope = TenantScope(organisation_id)
    async with transaction(engine, organisation_id) as db:
        await require_organisation(db, scope)
        return await list_current_files(db, scope, month, vendor)
