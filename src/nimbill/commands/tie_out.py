"""`nimbill tie-out`: reconcile the invoices of a month with the vendor charges."""

import sys
from decimal import Decimal
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.open_database import run_with_engine
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import NOTHING_FOUND, Switch, print_json, print_text
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import VENDORS, Vendor
from nimbill.identity.organisations.operations import require_organisation
from nimbill.invoicing.reconciliation.bodies import (
    TieOutDifference,
    TieOutEntryDifference,
    TieOutState,
)
from nimbill.invoicing.reconciliation.records import TieOut, load_tie_out

basis = chosen("tie-out")

DOES_NOT_TIE = 1  # exit code
EXIT_CODES = {
    TieOutState.ties: 0,
    TieOutState.differs: DOES_NOT_TIE,
    TieOutState.nothing_to_compare: NOTHING_FOUND,
}
RESULTS = {
    TieOutState.ties: "ties",
    TieOutState.differs: "does not tie",
    TieOutState.nothing_to_compare: "has nothing to compare: no import, no charge and no invoice",
}

# The printed lines of a payer and their fields; the first two equal the sum of the others.
PAYER_LINES = (
    ("vendor total", "total"),
    ("reservation fees moved here", "moved_fees"),
    ("usage on invoices", "invoiced"),
    ("usage of accounts in no group", "in_no_group"),
    ("applied entries", "entries_applied"),
    ("entries not applied", "entries_unapplied"),
    ("vendor tax", "tax"),
    ("vendor discounts", "discount"),
    ("unknown line types", "unknown"),
    ("difference", "difference"),
)


def tie_out(
    month: str,
    /,
    *,
    organisation: str,
    vendor: Literal["aws", "azure", "gcp"] | None = None,
    json: Switch = False,
) -> None:
    """Reconcile the invoices of a month with the vendor charges.

    Exit codes: 0 they tie; 1 they differ; 2 refused, for example an unknown organisation;
    3 there is nothing to compare.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    organisation
        Id of the organisation.
    vendor
        Reconcile one vendor only.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(month)
    vendors = list(VENDORS) if vendor is None else [vendor]
    result = run_with_engine(
        load_command_settings(),
        lambda engine, _: _tie_out_month(engine, organisation, month, vendors),
        migrates=False,
    )
    if json:
        print_json(exact_json.encode(result))
    else:
        _print_result(result)
    sys.exit(EXIT_CODES[result.state])


async def _tie_out_month(
    engine: AsyncEngine, organisation_id: str, month: str, vendors: list[Vendor]
) -> TieOut:
    scope = TenantScope(organisation_id)
    async with transaction(engine, organisation_id) as db:
        await require_organisation(db, scope)
        return await load_tie_out(db, scope, month, vendors)


def _print_result(result: TieOut) -> None:
    for payer in result.payers:
        print_text(f"{payer.vendor} {payer.payer_id} {payer.currency}")
        for label, field in PAYER_LINES:
            print_text(f"  {label:34}{_format_amount(getattr(payer, field)):>28}")
    for account in result.accounts_in_no_group:
        amount = f"{_format_amount(account.amount)} {account.currency}"
        print_text(f"in no billing group: {account.vendor} {account.customer_id} {amount}")
    for difference in result.differences:
        print_text(_format_difference(difference))
    for entry in result.entry_differences:
        print_text(_format_entry_difference(entry))
    print_text(f"{result.month} {RESULTS[result.state]}")


def _format_entry_difference(entry: TieOutEntryDifference) -> str:
    invoice = entry.invoice_no or entry.company_id or "no billing group"
    return (
        f"{entry.reason}: {invoice} {entry.customer_id} {entry.entry_id}: "
        f"invoiced {_format_amount(entry.invoiced)}, "
        f"applied {_format_amount(entry.applied)} {entry.currency}, "
        f"difference {_format_amount(entry.difference)}"
    )


def _format_difference(difference: TieOutDifference) -> str:
    invoice = difference.invoice_no or difference.company_id or "no billing group"
    marketplace = " marketplace" if difference.marketplace else ""
    return (
        f"{difference.reason}: {invoice} {difference.customer_id} {difference.service}"
        f"{marketplace}: invoiced {_format_amount(difference.invoiced)}, "
        f"charged {_format_amount(difference.counts)} {difference.currency}, "
        f"difference {_format_amount(difference.difference)}"
    )


def _format_amount(amount: Decimal) -> str:
    return f"{amount:,f}"
