"""`nimbill invoice`: create the invoices of a month and write them as PDF files."""

import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from cyclopts import App

from nimbill.application.foreground_runs import run_invoices
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import (
    NOTHING_FOUND,
    JsonSwitch,
    exit_with_error,
    print_json,
    print_text,
    progress_bar,
)
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.names import Names, load_names
from nimbill.commands.organisation_command import (
    Organisation,
    OrganisationAccess,
    run_for_organisation,
)
from nimbill.commands.tables import OutputColumn, print_rows
from nimbill.commands.vendor_argument import KnownVendorName
from nimbill.database.tenant_scope import transaction
from nimbill.foundation import exact_json
from nimbill.invoicing.documents.bodies import WARNING_DETAILS
from nimbill.invoicing.documents.document import InvoiceWarningCode
from nimbill.invoicing.pdf.pdf_cache import NoInvoices, write_pdf_files
from nimbill.invoicing.runs.operations import (
    CreateInvoicesRequest,
    CreateInvoicesResponse,
)

SOME_SKIPPED = 1  # exit code
NUMBERS_SHOWN_MAX = 10
HARMLESS_REASONS = ("no_accounts",)  # the group has nothing to bill

invoice = App(name="invoice", help="The invoices of a month.")


@invoice.command
def create(
    month: str,
    *groups: str,
    vendor: KnownVendorName,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Create the invoices of a month for every billing group that is ready.

    Settings and exchange rates must be saved before. Exit codes: 0 every group with accounts has an
    invoice; 1 some groups were skipped; 2 no invoice could be created.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    groups
        The company_id of each group; every group by default.
    vendor
        The vendor whose costs are billed.
    """
    refuse_invalid_month(month)
    body = CreateInvoicesRequest(vendor=vendor, group=list(groups), bulk=not groups)
    settings = load_command_settings()
    with progress_bar("invoices") as show_progress:

        async def run(access: OrganisationAccess) -> tuple[CreateInvoicesResponse, Names]:
            engine, scope = access.engine, access.scope
            response = await run_invoices(engine, scope, month, body, show_progress)
            async with transaction(engine, scope.organisation_id) as db:
                return response, await load_names(db, scope)

        response, names = run_for_organisation(settings, organisation, run, changes=True)
    if json:
        print_json(exact_json.encode(response))
    else:
        _print_response(response, names)
    if any(group.reason not in HARMLESS_REASONS for group in response.skipped):
        sys.exit(SOME_SKIPPED)


@invoice.command(name="print")
def print_(month: str, *, into: Path, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Write the invoices of a month as PDF files.

    Exit codes: 0 written; 2 refused, for example an unknown organisation; 3 the month has no
    invoice.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    into
        The folder for the files; created if it does not exist.
    """
    refuse_invalid_month(month)
    settings = load_command_settings()
    try:
        with progress_bar("PDF files") as show_progress:
            names = run_for_organisation(
                settings,
                organisation,
                lambda access: write_pdf_files(
                    access.engine, access.scope, month, into, show_progress
                ),
                changes=False,
            )
    except NoInvoices as error:
        exit_with_error(NOTHING_FOUND, error.detail, code=error.code)
    if json:
        print_json(exact_json.encode({"folder": str(into), "files": names}))
    else:
        print_text(f"{len(names)} invoices written to {into}")


def _print_response(response: CreateInvoicesResponse, names: Names) -> None:
    print_text(f"{len(response.created)} invoices created, {len(response.skipped)} groups skipped")
    if response.skipped:
        columns = [
            OutputColumn("company_id"),
            OutputColumn("billing group", wraps=True),
            OutputColumn("reason"),
        ]
        print_rows(
            columns,
            [
                [group.company_id, names.get(group.company_id, ""), group.reason]
                for group in response.skipped
            ],
        )
    for code, numbers in _group_warnings(response).items():
        others = f" and {len(numbers) - NUMBERS_SHOWN_MAX} more" * (
            len(numbers) > NUMBERS_SHOWN_MAX
        )
        print_text(f"warning: {code}: {', '.join(numbers[:NUMBERS_SHOWN_MAX])}{others}")
        print_text(f"  {WARNING_DETAILS[code]}")


def _group_warnings(
    response: CreateInvoicesResponse,
) -> Mapping[InvoiceWarningCode, list[str]]:
    """Return the invoice numbers of each warning."""
    numbers: dict[InvoiceWarningCode, list[str]] = defaultdict(list)
    for warning in response.warnings:
        numbers[warning.code].append(warning.invoice_no)
    return numbers
