"""`nimbill rates`: show and save the exchange rates of a month."""

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any

from cyclopts import App

from nimbill.application.command_transaction import CommandTransaction
from nimbill.commands.billing_group_argument import require_group
from nimbill.commands.console import JsonSwitch, print_json, print_text
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import Organisation, run_changing, run_reading
from nimbill.commands.tables import OutputColumn, print_rows
from nimbill.commands.vendor_argument import BilledVendorName, list_named_vendors
from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.foundation import exact_json
from nimbill.foundation.errors import Conflict, Violation, refuse_if
from nimbill.http.request_bodies import Success, parse_body
from nimbill.invoicing.documents.bodies import SaveExchangeRateRequest
from nimbill.invoicing.runs.month_settings import load_saved_settings
from nimbill.invoicing.runs.operations import save_exchange_rates

# See docs/choices.md, command-line.

rates = App(name="rates", help="The exchange rates of a month.")

Rate = Mapping[str, Any]


@rates.command
def show(
    month: str,
    /,
    *,
    vendor: BilledVendorName | None = None,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Show the saved rate of each billing group that has saved terms for the month.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    vendor
        Show the rates of one vendor only.
    """
    refuse_invalid_month(month)

    async def run(command: CommandTransaction) -> list[dict[str, Any]]:
        return await _list_rates(command, month, await list_named_vendors(command, vendor))

    found = run_reading("rates show", organisation, run)
    if json:
        print_json(exact_json.encode({"month": month, "rates": found}))
        return
    columns = [
        OutputColumn("vendor"),
        OutputColumn("billinggroup_id"),
        OutputColumn("name", wraps=True),
        OutputColumn("currency"),
        OutputColumn("rate", right=True),
    ]
    print_rows(columns, [_format_rate(rate) for rate in found])


@rates.command(name="set")
def set_(
    month: str,
    rate: str,
    /,
    *groups: str,
    vendor: BilledVendorName,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Save the rate of a month. Without groups, all with saved terms for the month get it.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    rate
        Yen per dollar.
    groups
        The billinggroup_id or company_id of each group.
    vendor
        The vendor whose costs are converted.
    """
    refuse_invalid_month(month)
    exchange_rate = _parse_rate(rate)

    async def run(command: CommandTransaction) -> int:
        vendors = await list_named_vendors(command, vendor)
        company_ids = await _find_groups(command, month, vendor, groups)
        sent = {"vendor": vendor, "billing_groups": company_ids, "exchange_rate": exchange_rate}
        body = parse_body(SaveExchangeRateRequest, sent, vendors)
        await save_exchange_rates(
            command.db, command.scope, month, body, saved_by=command.actor["actor_name"]
        )
        await command.audit("save_exchange_rates", f"invoices/{month}/exchangerate", sent)
        return len(company_ids)

    count = run_changing("rates set", organisation, run)
    if json:
        print_json(exact_json.encode(Success()))
    else:
        print_text(f"saved {exchange_rate:f} for {count} billing groups, {vendor} {month}")


def _parse_rate(text: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,20})?", text):
        refuse_if([Violation("rate", "a number such as 150.25")])
    return Decimal(text)


async def _find_groups(
    command: CommandTransaction, month: str, vendor: str, groups: Sequence[str]
) -> list[str]:
    if groups:
        return [(await require_group(command, group)).company_id for group in groups]
    saved = await _list_rates(command, month, [vendor])
    if not saved:
        raise Conflict(
            "not_ready", f"No billing group has saved {vendor} terms for {month}. Save them first."
        )
    return [rate["company_id"] for rate in saved]


async def _list_rates(
    command: CommandTransaction, month: str, vendors: Collection[str]
) -> list[dict[str, Any]]:
    groups = {
        group.company_id: group for group in await list_billing_groups(command.db, command.scope)
    }
    saved = await load_saved_settings(command.db, command.scope, month, groups)
    return [
        {
            "company_id": company_id,
            "billinggroup_id": groups[company_id].billinggroup_id,
            "billinggroup_name": groups[company_id].billinggroup_name,
            "vendor": saved_vendor,
            "currency": row.currency,
            "exchange_rate": row.exchange_rate,
        }
        for (company_id, saved_vendor), row in sorted(
            saved.items(), key=lambda item: (item[0][1], groups[item[0][0]].billinggroup_id)
        )
        if saved_vendor in vendors
    ]


def _format_rate(rate: Rate) -> list[str]:
    amount = rate["exchange_rate"]
    return [
        rate["vendor"],
        rate["billinggroup_id"],
        rate["billinggroup_name"],
        rate["currency"],
        "missing" if amount is None else f"{amount:f}",
    ]
