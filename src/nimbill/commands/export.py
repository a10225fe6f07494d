"""`nimbill export`: write imported costs as a file for other programs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, print_json, print_text, progress_bar
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import (
    Organisation,
    OrganisationAccess,
    run_for_organisation,
)
from nimbill.commands.vendor_argument import READABLE, KnownVendorName
from nimbill.costs.lake.lake_error import LakeError
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import CurrentLakeFile, list_current_files
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, NotFound, Violation, refuse_if
from nimbill.foundation.failure_causes import describe_os_error

basis = chosen("focus-export")

export = App(name="export", help="Files for other programs.")


@export.command
def focus(
    month: str,
    /,
    *,
    organisation: Organisation,
    vendor: KnownVendorName | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: JsonSwitch = False,
) -> None:
    """Write the cost lines of a month as a FOCUS 1.2 Parquet file.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    vendor
        Export the lines of one vendor only.
    output
        The file to write; focus-MONTH.parquet in this folder by default.
    """
    refuse_invalid_month(month)
    settings = load_command_settings()

    async def list_files(
        access: OrganisationAccess,
    ) -> tuple[list[CurrentLakeFile], Mapping[str, Sequence[str]]]:
        async with transaction(access.engine, access.scope.organisation_id) as db:
            stored = await load_settings(db, access.scope)
            if vendor is not None and vendor not in READABLE.list_names(stored.vendors):
                refuse_if([Violation("vendor", READABLE.describe(stored.vendors))])
            files = await list_current_files(db, access.scope, month, vendor)
            return files, stored.provider_names

    files, provider_names = run_for_organisation(settings, organisation, list_files, changes=False)
    if not files:
        raise NotFound("nothing_imported", "No costs were imported for this month.")
    # Imported late because it loads large libraries.
    from nimbill.costs.focus_export import default_file_name, write_focus_file

    path = output or Path(default_file_name(month, vendor))
    try:
        with progress_bar("export"):
            lines = write_focus_file(Lake(settings.lake_url), files, month, path, provider_names)
    except OSError as error:
        reason = (
            error.cause if isinstance(error, LakeError) else describe_os_error(error, str(path))
        )
        raise Conflict("not_written", f"The file was not written. {reason}") from error
    if json:
        print_json(exact_json.encode({"file": str(path), "lines": lines}))
    else:
        print_text(f"{path}: {lines} lines")
