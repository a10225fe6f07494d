"""`nimbill export`: write imported costs or created invoices as files for other programs."""

from pathlib import Path
from typing import Annotated, Literal

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
from nimbill.customers.organisation_settings.records import load_settings
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import exact_json
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.foundation.failure_causes import describe_os_error
from nimbill.invoicing.focus.month_records import FocusMonth, load_focus_month, require_charges

# See docs/choices.md, focus-export.
# See docs/choices.md, focus-invoices.

export = App(name="export", help="Files for other programs.")


@export.command
def focus(
    month: str,
    /,
    *,
    organisation: Organisation,
    vendor: KnownVendorName | None = None,
    focus: Literal["1.2", "1.4"] = "1.2",
    price: Literal["vendor", "customer"] = "vendor",
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: JsonSwitch = False,
) -> None:
    """Write a month as FOCUS: its costs, or what customers were billed.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    vendor
        Export the lines of one vendor only.
    focus
        1.2 writes one Parquet file. 1.4 writes a folder with cost_and_usage.parquet,
        invoice_detail.parquet and billing_period.parquet.
    price
        vendor exports the lines that vendors charged, customer the lines of the created invoices.
    output
        The file or folder to write; focus-MONTH.parquet or focus-MONTH in this folder by default.
    """
    refuse_invalid_month(month)
    settings = load_command_settings()

    async def load(access: OrganisationAccess) -> FocusMonth:
        async with transaction(access.engine, access.scope.organisation_id) as db:
            stored = await load_settings(db, access.scope)
            if vendor is not None and vendor not in READABLE.list_names(stored.vendors):
                refuse_if([Violation("vendor", READABLE.describe(stored.vendors))])
            return await load_focus_month(db, access.scope, access.organisation.name, month, vendor)

    focus_month = run_for_organisation(settings, organisation, load, changes=False)
    require_charges(focus_month, with_invoices=price == "customer")
    # Imported late because it loads large libraries.
    from nimbill.costs.focus_columns import FocusVersion
    from nimbill.invoicing.focus.export import Price, default_output, write_focus

    version, prices = FocusVersion(focus), Price(price)
    path = output or Path(default_output(month, vendor, version, prices))
    try:
        with progress_bar("export"):
            files = write_focus(Lake(settings.lake_url), focus_month, version, prices, path)
    except OSError as error:
        reason = (
            error.cause if isinstance(error, LakeError) else describe_os_error(error, str(path))
        )
        raise Conflict("not_written", f"The file was not written. {reason}") from error
    written = [{"file": str(file.path), "lines": file.lines} for file in files]
    if json:
        print_json(exact_json.encode(written[0] if focus == "1.2" else {"files": written}))
    else:
        print_text("\n".join(f"{file.path}: {file.lines} lines" for file in files))
