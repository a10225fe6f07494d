"""`nimbill invoice`: create the invoices of a month and write them as PDF files."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cyclopts import App
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.foreground_runs import run_invoices
from nimbill.application.open_database import run_with_engine
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import (
    NOTHING_FOUND,
    Switch,
    exit_with_error,
    print_json,
    print_table,
    print_text,
    terminal_progress,
)
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.vendors import Vendor
from nimbill.identity.organisations.operations import require_organisation
from nimbill.invoicing.pdf.pdf_cache import NoInvoices, write_pdf_files
from nimbill.invoicing.runs.operations import (
    CreateInvoicesRequest,
    CreateInvoicesResponse,
)

SOME_SKIPPED = 1  # exit code
HARMLESS_REASONS = ("no_accounts",)  # the group has nothing to bill

invoice = App(name="invoice", help="The invoices of a month.")


@invoice.command
def create(
    month: str,
    *groups: str,
    vendor: Vendor,
    organisation: str,
    json: Switch = False,
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
    organisation
        Id of the organisation.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(month)
    body = CreateInvoicesRequest(vendor=vendor, group=list(groups), bulk=not groups)
    scope = TenantScope(organisation)
    with _progress_bar() as show_progress:
        response = run_with_engine(
            load_command_settings(),
            lambda engine, _: run_invoices(engine, scope, month, body, show_progress),
        )
    if json:
        print_json(exact_json.encode(response))
    else:
        _print_response(response)
    if any(group.reason not in HARMLESS_REASONS for group in response.skipped):
        sys.exit(SOME_SKIPPED)


@invoice.command(name="print")
def print_(month: str, *, into: Path, organisation: str) -> None:
    """Write the invoices of a month as PDF files.

    Exit codes: 0 written; 2 refused, for example an unknown organisation; 3 the month has no
    invoice.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    into
        The folder for the files; created if it does not exist.
    organisation
        Id of the organisation.
    """
    refuse_invalid_month(month)
    try:
        names = run_with_engine(
            load_command_settings(),
            lambda engine, _: _write_files(engine, TenantScope(organisation), month, into),
            migrates=False,
        )
    except NoInvoices as error:
        exit_with_error(NOTHING_FOUND, error.detail, code=error.code)
    print_text(f"{len(names)} invoices written to {into}")


async def _write_files(
    engine: AsyncEngine, scope: TenantScope, month: str, into: Path
) -> list[str]:
    async with transaction(engine, scope.organisation_id) as db:
        await require_organisation(db, scope)
    return await write_pdf_files(engine, scope, month, into)


@contextmanager
def _progress_bar() -> Iterator[Callable[[int, int], None]]:
    with terminal_progress(
        TextColumn("invoices"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda finished, total: bar.update(task, total=total, completed=finished)


def _print_response(response: CreateInvoicesResponse) -> None:
    print_text(f"{len(response.created)} invoices created, {len(response.skipped)} groups skipped")
    if response.skipped:
        table = Table("company_id", "reason")
        for group in response.skipped:
            table.add_row(group.company_id, group.reason)
        print_table(table)
