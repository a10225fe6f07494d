"""`nimbill tie-out`: reconcile the invoices of a month with the vendor charges."""

import sys
from decimal import Decimal

from nimbill.application.command_transaction import CommandTransaction
from nimbill.closing.reconciliation.bodies import (
    TieOutDifference,
    TieOutEntryDifference,
    TieOutState,
)
from nimbill.closing.reconciliation.records import TieOut, load_tie_out
from nimbill.commands.console import NOTHING_FOUND, JsonSwitch, print_json, print_text
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.names import Names, add_name, load_names
from nimbill.commands.organisation_command import Organisation, run_reading
from nimbill.commands.vendor_argument import READABLE, KnownVendorName, list_named_vendors
from nimbill.foundation import exact_json

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
    organisation: Organisation,
    vendor: KnownVendorName | None = None,
    json: JsonSwitch = False,
) -> None:
    """Reconcile the invoices of a month with the vendor charges.

    Exit codes: 0 they tie; 1 they differ; 2 refused, for example an unknown organisation;
    3 there is nothing to compare.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    vendor
        Reconcile one vendor only.
    """
    refuse_invalid_month(month)
    result, names = run_reading(
        "tie-out",
        organisation,
        lambda command: _tie_out_month(command, month, vendor),
    )
    if json:
        print_json(exact_json.encode(result))
    else:
        _print_result(result, names)
    sys.exit(EXIT_CODES[result.state])


async def _tie_out_month(
    command: CommandTransaction, month: str, vendor: str | None
) -> tuple[TieOut, Names]:
    vendors = await list_named_vendors(command, vendor, READABLE)
    result = await load_tie_out(command.db, command.scope, month, vendors, from_data=True)
    return result, await load_names(command.db, command.scope)


def _print_result(result: TieOut, names: Names) -> None:
    for payer in result.payers:
        print_text(f"{payer.vendor} {payer.payer_id} {payer.currency}")
        for label, field in PAYER_LINES:
            print_text(f"  {label:34}{_format_amount(getattr(payer, field)):>28}")
    for account in result.accounts_in_no_group:
        amount = f"{_format_amount(account.amount)} {account.currency}"
        print_text(f"in no billing group: {account.vendor} {account.customer_id} {amount}")
    for difference in result.differences:
        print_text(format_difference(difference, names))
    for entry in result.entry_differences:
        print_text(_format_entry_difference(entry, names))
    print_text(f"{result.month} {RESULTS[result.state]}")


def _format_entry_difference(entry: TieOutEntryDifference, names: Names) -> str:
    return (
        f"{entry.reason}: {_format_invoice(entry.invoice_no, entry.company_id, names)} "
        f"{add_name(entry.customer_id, names)} {entry.entry_id}: "
        f"invoiced {_format_amount(entry.invoiced)}, "
        f"applied {_format_amount(entry.applied)} {entry.currency}, "
        f"difference {_format_amount(entry.difference)}"
    )


def _format_invoice(invoice_no: str | None, company_id: str | None, names: Names) -> str:
    group = add_name(company_id, names) if company_id else "no billing group"
    return f"{invoice_no} {group}" if invoice_no else group


def format_difference(difference: TieOutDifference, names: Names) -> str:
    """Some charges have no service, for example those of a whole account."""
    invoice = _format_invoice(difference.invoice_no, difference.company_id, names)
    marketplace = " marketplace" if difference.marketplace else ""
    return (
        f"{difference.reason}: {invoice} "
        f"{add_name(difference.customer_id, names)} {difference.service or 'no service'}"
        f"{marketplace}: invoiced {_format_amount(difference.invoiced)}, "
        f"charged {_format_amount(difference.counts)} {difference.currency}, "
        f"difference {_format_amount(difference.difference)}"
    )


def _format_amount(amount: Decimal) -> str:
    return f"{amount:,f}"
