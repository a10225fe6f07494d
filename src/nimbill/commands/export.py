"""`nimbill export`: what was imported, as a file for other programs."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.installed import load_settings
from nimbill.application.open_database import with_engine
from nimbill.commands.month_argument import refuse_no_month
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile, list_current_files
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, NotFound

basis = chosen("focus-export")

export = App(name="export", help="Files for other programs.")
_out = Console(highlight=False, soft_wrap=True)


@export.command
def focus(
    month: str,
    /,
    *,
    organisation: str,
    vendor: Literal["aws", "azure", "gcp"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
) -> None:
    """Write a month's cost lines as a FOCUS 1.2 Parquet file, whole or not at all.

    Parameters
    ----------
    month
        yyyy-mm.
    organisation
        Its id.
    vendor
        Whose lines alone; else those of every vendor.
    output
        The file; else focus-MONTH.parquet in this folder.
    """
    refuse_no_month(month)
    settings = load_settings()
    files = with_engine(settings, lambda engine: _files(engine, organisation, month, vendor))
    if not files:
        raise NotFound("nothing_imported", "nothing was imported for this month")
    # large, and needed from here on alone
    from nimbill.costs.focus_export import default_file_name, write_focus_file

    place = output or Path(default_file_name(month, vendor))
    try:
        lines = write_focus_file(Lake(settings.lake_url), files, month, place)
    except OSError as error:
        reason = error.strerror or "the disk or the object store failed"
        raise Conflict("not_written", f"the file cannot be written: {reason}") from error
    _out.print(f"{place}: {lines} lines", markup=False)


async def _files(
    engine: AsyncEngine, organisation_id: str, month: str, vendor: str | None
) -> list[CurrentLakeFile]:
    async with transaction(engine, organisation_id) as db:
        return await list_current_files(db, TenantScope(organisation_id), month, vendor)
