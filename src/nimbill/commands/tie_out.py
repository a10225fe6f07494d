"""`nimbill tie-out`: reconcile the invoices of a month with the vendor charges."""

import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from nimbill.application.command_transaction import CommandTransaction
from nimbill.commands.console import Switch, print_json, print_text, replace_unprintable
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import Organisation, run_command
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import VENDORS, Vendor
from nimbill.invoicing.reconciliation.bodies import TieOutDifference
from nimbill.invoicing.reconciliation.records import TieOut, load_tie_out

basis = chosen("tie-out")

DOES_NOT_TIE = 1  # exit code

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
    vendor: Literal["aws", "azure", "gcp"] | None = None,
    json: Switch = False,
) -> None:
    """Reconcile the invoices of a month with the vendor charges; exit code 1 if they differ.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    vendor
        Reconcile one vendor only.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(month)
    vendors = list(VENDORS) if vendor is None else [vendor]
    result, names = run_command(
        "tie-out", organisation, lambda command: _tie_out_month(command, month, vendors)
    )
    if json:
        print_json(exact_json.encode(result))
    else:
        _print_result(result, names)
    if not result.ties:
        sys.exit(DOES_NOT_TIE)


async def _tie_out_month(
    command: CommandTransaction, month: str, vendors: list[Vendor]
) -> tuple[TieOut, Mapping[str, str]]:
    """Return the result, and the names of groups by company_id and of accounts by customer_id."""
    result = await load_tie_out(command.db, command.scope, month, vendors)
    groups = await list_billing_groups(command.db, command.scope)
    names = {group.company_id: group.billinggroup_name for group in groups}
    names |= {
        account.customer_id: account.customer_name for group in groups for account in group.account
    }
    return result, names


def _print_result(result: TieOut, names: Mapping[str, str]) -> None:
    for payer in result.payers:
        print_text(f"{payer.vendor} {payer.payer_id} {payer.currency}")
        for label, field in PAYER_LINES:
            print_text(f"  {label:34}{_format_amount(getattr(payer, field)):>28}")
    for account in result.accounts_in_no_group:
        amount = f"{_format_amount(account.amount)} {account.currency}"
        print_text(f"in no billing group: {account.vendor} {account.customer_id} {amount}")
    for difference in result.differences:
        print_text(_format_difference(difference, names))
    print_text(f"{result.month} {'ties' if result.ties else 'does not tie'}")


def _format_difference(difference: TieOutDifference, names: Mapping[str, str]) -> str:
    company_id, customer_id = difference.company_id, difference.customer_id
    invoice = difference.invoice_no or company_id or "no billing group"
    marketplace = " marketplace" if difference.marketplace else ""
    return (
        f"{difference.reason}: {_add_name(invoice, names.get(company_id or ''))} "
        f"{_add_name(customer_id, names.get(customer_id))} {difference.service}"
        f"{marketplace}: invoiced {_format_amount(difference.invoiced)}, "
        f"charged {_format_amount(difference.counts)} {difference.currency}, "
        f"difference {_format_amount(difference.difference)}"
    )


def _add_name(id_: str, name: str | None) -> str:
    return f"{id_} ({replace_unprintable(name)})" if name else id_


def _format_amount(amount: Decimal) -> str:
    return f"{amount:,f}"
