"""`nimbill export`: write imported costs as a file for other programs."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from nimbill.application.installed import load_settings
from nimbill.commands.console import Switch, print_json, print_text, progress_bar
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import Organisation, run_command
from nimbill.costs.lake.parquet_files import Lake
from nimbill.costs.lake.records import list_current_files
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Conflict, NotFound

basis = chosen("focus-export")

export = App(name="export", help="Files for other programs.")


@export.command
def focus(
    month: str,
    /,
    *,
    organisation: Organisation,
    vendor: Literal["aws", "azure", "gcp"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Switch = False,
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
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(month)
    files = run_command(
        "export focus",
        organisation,
        lambda command: list_current_files(command.db, command.scope, month, vendor),
    )
    if not files:
        raise NotFound("nothing_imported", "No costs were imported for this month.")
    # Imported late because it loads large libraries.
    from nimbill.costs.focus_export import default_file_name, write_focus_file

    path = output or Path(default_file_name(month, vendor))
    try:
        with progress_bar("export"):
            lines = write_focus_file(Lake(load_settings().lake_url), files, month, path)
    except OSError as error:
        reason = error.strerror or "the disk or the object store failed"
        raise Conflict("not_written", f"The file cannot be written: {reason}.") from error
    if json:
        print_json(exact_json.encode({"file": str(path), "lines": lines}))
    else:
        print_text(f"{path}: {lines} lines")
