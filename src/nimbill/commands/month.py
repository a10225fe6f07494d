"""`nimbill month`: show, close and reopen a month."""

from typing import Any

from cyclopts import App

from nimbill.application.command_transaction import CommandTransaction
from nimbill.commands.console import OutputColumn, Switch, print_json, print_rows, print_text
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import Organisation, run_command
from nimbill.costs.months import operations
from nimbill.costs.months.bodies import MonthClosing, MonthReopening
from nimbill.costs.months.records import MonthState, load_month_state
from nimbill.foundation import exact_json
from nimbill.foundation.basis import chosen
from nimbill.foundation.billing_period import BillingPeriod
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor
from nimbill.http.request_bodies import Success, parse_body
from nimbill.invoicing.documents.stored_invoices import list_invoiced_groups
from nimbill.invoicing.runs.cost_records import list_imports

basis = chosen("command-line")

month = App(name="month", help="The state of a month: open, parked or closed.")


@month.command
def show(
    name: str,
    /,
    *,
    vendor: BilledVendor | None = None,
    organisation: Organisation,
    json: Switch = False,
) -> None:
    """Show the state of a month at each vendor, its payers and its invoices.

    Parameters
    ----------
    name
        The month, yyyy-mm.
    vendor
        Show one vendor only.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(name)
    vendors = BILLED_VENDORS if vendor is None else (vendor,)

    async def run(command: CommandTransaction) -> list[dict[str, Any]]:
        return [await _describe(command, BillingPeriod(name, each)) for each in vendors]

    found = run_command("month show", organisation, run)
    if json:
        print_json(exact_json.encode({"month": name, "vendors": found}))
        return
    columns = [
        OutputColumn("vendor"),
        OutputColumn("state"),
        OutputColumn("payers", wraps=True),
        OutputColumn("invoices", right=True),
        OutputColumn("remarks", wraps=True),
    ]
    print_rows(columns, [_format_vendor(each) for each in found])


@month.command
def close(
    name: str,
    /,
    *,
    vendor: BilledVendor,
    reason: str | None = None,
    organisation: Organisation,
    json: Switch = False,
) -> None:
    """Close a month: later imports, invoices and applied entries are refused.

    Parameters
    ----------
    name
        The month, yyyy-mm.
    vendor
        The vendor whose month is closed.
    reason
        A reason for the audit log.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(name)
    sent = {"vendor": vendor, "reason": reason}
    body = parse_body(MonthClosing, sent)

    async def run(command: CommandTransaction) -> None:
        await operations.close_month(command.db, command.scope, name, body)
        await command.audit("close_month", f"month/{vendor}/{name}", sent)

    run_command("month close", organisation, run)
    _print_success(f"{vendor} {name} is closed", as_json=json)


@month.command
def reopen(
    name: str,
    /,
    *,
    vendor: BilledVendor,
    reason: str,
    organisation: Organisation,
    json: Switch = False,
) -> None:
    """Open a closed month again.

    Parameters
    ----------
    name
        The month, yyyy-mm.
    vendor
        The vendor whose month is opened.
    reason
        The reason, which the audit log keeps.
    json
        Print one JSON object and nothing else.
    """
    refuse_invalid_month(name)
    sent = {"vendor": vendor, "reason": reason}
    body = parse_body(MonthReopening, sent)

    async def run(command: CommandTransaction) -> None:
        await operations.reopen_month(command.db, command.scope, name, body)
        await command.audit("reopen_month", f"month/{vendor}/{name}", sent)

    run_command("month reopen", organisation, run)
    _print_success(f"{vendor} {name} is open", as_json=json)


async def _describe(command: CommandTransaction, period: BillingPeriod) -> dict[str, Any]:
    state = await load_month_state(command.db, command.scope, period)
    imports = await list_imports(command.db, command.scope, period)
    invoiced = await list_invoiced_groups(command.db, command.scope, period.month, period.vendor)
    return {
        "vendor": period.vendor,
        "state": _name_state(state),
        "parked_reasons": list(state.parked_reasons.values()),
        "payers": [
            {"payer_id": row.payer_id, "import_id": row.import_id, "provisional": row.provisional}
            for row in imports
        ],
        "invoices": len(invoiced),
    }


def _name_state(state: MonthState) -> str:
    if state.closed:
        return "closed"
    return "parked" if state.is_parked else "open"


def _format_vendor(described: dict[str, Any]) -> list[str]:
    remarks = [f"parked: {reason}" for reason in described["parked_reasons"]]
    provisional = [payer["payer_id"] for payer in described["payers"] if payer["provisional"]]
    remarks += [f"provisional: {' '.join(provisional)}"] if provisional else []
    return [
        described["vendor"],
        described["state"],
        " ".join(payer["payer_id"] for payer in described["payers"]) or "none",
        str(described["invoices"]),
        "; ".join(remarks),
    ]


def _print_success(text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(exact_json.encode(Success()))
    else:
        print_text(text)
