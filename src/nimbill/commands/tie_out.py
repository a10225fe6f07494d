"""`nimbill tie-out`: whether a month's invoices account for all that the vendors charged."""

import sys
from decimal import Decimal
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.installed import load_settings
from nimbill.application.open_database import with_engine
from nimbill.commands.month_argument import refuse_no_month
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.vendors import VENDORS, Vendor
from nimbill.invoicing.reconciliation.records import TieOut, load_tie_out

basis = chosen("tie-out")

DOES_NOT_TIE = 1
_out = Console(highlight=False, soft_wrap=True)

# what stands below a payer, and the field it is from; it adds up to the first two
LINES = (
    ("the vendor's total", "total"),
    ("fees of reservations moved here", "moved_fees"),
    ("usage on invoices", "invoiced"),
    ("usage of accounts in no group", "in_no_group"),
    ("entries that are applied", "entries_applied"),
    ("entries that are not", "entries_unapplied"),
    ("the vendor's tax", "tax"),
    ("the vendor's discounts", "discount"),
    ("lines of unknown types", "unknown"),
    ("difference", "difference"),
)


def tie_out(
    month: str,
    /,
    *,
    organisation: str,
    vendor: Literal["aws", "azure", "gcp"] | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Compare a month's invoices with what the vendors charged; exit code 1 where they differ.

    Parameters
    ----------
    month
        yyyy-mm.
    organisation
        Its id.
    vendor
        Whose costs alone; else those of every vendor.
    json
        Print one JSON object and nothing else.
    """
    refuse_no_month(month)
    vendors = list(VENDORS) if vendor is None else [vendor]
    found = with_engine(
        load_settings(), lambda engine: _tied_out(engine, organisation, month, vendors)
    )
    if json:
        sys.stdout.write(exact_json.write(found).decode() + "\n")
    else:
        _show(found)
    if not found.ties:
        sys.exit(DOES_NOT_TIE)


async def _tied_out(
    engine: AsyncEngine, organisation_id: str, month: str, vendors: list[Vendor]
) -> TieOut:
    async with transaction(engine, organisation_id) as db:
        return await load_tie_out(db, TenantScope(organisation_id), month, vendors)


def _show(found: TieOut) -> None:
    for payer in found.payers:
        _say(f"{payer.vendor} {payer.payer_id} {payer.currency}")
        for words, name in LINES:
            _say(f"  {words:34}{_written(getattr(payer, name)):>28}")
    for account in found.accounts_in_no_group:
        amount = f"{_written(account.amount)} {account.currency}"
        _say(f"in no billing group: {account.vendor} {account.customer_id} {amount}")
    for one in found.differences:
        where = one.invoice_no or one.company_id or "no billing group"
        _say(
            f"{one.reason}: {where} {one.customer_id} {one.service}"
            f"{' marketplace' if one.marketplace else ''}: {_written(one.invoiced)} invoiced, "
            f"{_written(one.counts)} {one.currency} counts, {_written(one.difference)} between them"
        )
    _say(f"{found.month} {'ties' if found.ties else 'does not tie'}")


def _say(line: str) -> None:
    _out.print(line, markup=False)


def _written(amount: Decimal) -> str:
    return f"{amount:,f}"
