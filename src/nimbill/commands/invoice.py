"""`nimbill invoice`: create the invoices of a month and write them as PDF files."""

import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cyclopts import App
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.foreground_runs import run_invoices
from nimbill.commands.console import (
    OutputColumn,
    Switch,
    print_json,
    print_rows,
    print_text,
    progress_bar,
)
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import Organisation, run_with_scope
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.vendors import Vendor
from nimbill.invoicing.documents.bodies import WARNING_DETAILS
from nimbill.invoicing.documents.document import InvoiceWarningCode
from nimbill.invoicing.pdf.pdf_cache import write_pdf_files
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
    vendor: Vendor,
    organisation: Organisation,
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
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(month)
    body = CreateInvoicesRequest(vendor=vendor, group=list(groups), bulk=not groups)
    with progress_bar("invoices") as show_progress:

        async def run(engine: AsyncEngine, scope: TenantScope) -> _CreatedInvoices:
            response = await run_invoices(engine, scope, month, body, show_progress)
            return _CreatedInvoices(response, await _load_group_names(engine, scope))

        response, names = run_with_scope(organisation, run)
    if json:
        print_json(exact_json.encode(response))
    else:
        _print_response(response, names)
    if any(group.reason not in HARMLESS_REASONS for group in response.skipped):
        sys.exit(SOME_SKIPPED)


@invoice.command(name="print")
def print_(month: str, *, into: Path, organisation: Organisation, json: Switch = False) -> None:
    """Write the invoices of a month as PDF files.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    into
        The folder for the files; created if it does not exist.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(month)
    into.mkdir(parents=True, exist_ok=True)
    with progress_bar("PDF files") as show_progress:
        names = run_with_scope(
            organisation,
            lambda engine, scope: write_pdf_files(engine, scope, month, into, show_progress),
        )
    if json:
        print_json(exact_json.encode({"folder": str(into), "files": names}))
    else:
        print_text(f"{len(names)} invoices written to {into}")


class _CreatedInvoices(NamedTuple):
    response: CreateInvoicesResponse
    group_names: Mapping[str, str]  # by company_id


async def _load_group_names(engine: AsyncEngine, scope: TenantScope) -> Mapping[str, str]:
    async with transaction(engine, scope.organisation_id) as db:
        groups = await list_billing_groups(db, scope)
    return {
        group.company_id: f"{group.billinggroup_id} {group.billinggroup_name}" for group in groups
    }


def _print_response(response: CreateInvoicesResponse, names: Mapping[str, str]) -> None:
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
