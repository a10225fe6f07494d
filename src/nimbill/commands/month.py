"""`nimbill month`: show the steps of a month, close and reopen it."""

from typing import NoReturn

from cyclopts import App

from nimbill.application.command_transaction import CommandTransaction
from nimbill.closing.steps.bodies import (
    MonthClosing,
    MonthReopening,
    MonthStatus,
    MonthStep,
    StepBlocker,
)
from nimbill.closing.steps.operations import close_month, load_month, reopen_month
from nimbill.commands.console import (
    REFUSED,
    JsonSwitch,
    Switch,
    exit_with_error,
    print_json,
    print_text,
)
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.names import Names, add_name, load_names
from nimbill.commands.organisation_command import Organisation, run_changing, run_reading
from nimbill.commands.vendor_argument import BilledVendorName, list_named_vendors
from nimbill.foundation import exact_json
from nimbill.foundation.errors import Conflict, Violation
from nimbill.http.request_bodies import Success, parse_body

# See docs/choices.md, command-line.

RECORDS_SHOWN_MAX = 10

month = App(name="month", help="A month: its steps, closing and reopening.")


class _NotReady(Exception):
    """The month cannot be closed; carries the names of the records that lack something."""

    def __init__(self, reason: Conflict, names: Names) -> None:
        super().__init__(reason.code)
        self.reason = reason
        self.names = names


@month.command
def show(
    name: str,
    /,
    *,
    vendor: BilledVendorName | None = None,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Show the state of a month at each vendor, its steps, and what blocks each of them.

    Parameters
    ----------
    name
        The month, yyyy-mm.
    vendor
        Show one vendor only.
    """
    refuse_invalid_month(name)

    async def run(command: CommandTransaction) -> tuple[list[MonthStatus], Names]:
        vendors = await list_named_vendors(command, vendor)
        found = [await load_month(command.db, command.scope, name, each) for each in vendors]
        return found, await load_names(command.db, command.scope)

    found, names = run_reading("month show", organisation, run)
    if json:
        print_json(exact_json.encode({"month": name, "vendors": found}))
        return
    for number, status in enumerate(found):
        if number:
            print_text("")
        _print_status(status, names)


@month.command
def close(
    name: str,
    /,
    *,
    vendor: BilledVendorName,
    override: Switch = False,
    reason: str | None = None,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Close a month: later imports, invoices and applied entries are refused.

    A month that is not ready is refused with exit code 2 and a list of what is missing.

    Parameters
    ----------
    name
        The month, yyyy-mm.
    vendor
        The vendor whose month is closed.
    override
        Close the month although something is missing; needs --reason.
    reason
        A reason for the audit log.
    """
    refuse_invalid_month(name)
    options = {"vendor": vendor, "reason": reason, "override": override or None}
    sent = {field: value for field, value in options.items() if value is not None}

    async def run(command: CommandTransaction) -> list[Violation]:
        vendors = await list_named_vendors(command, vendor)
        body = parse_body(MonthClosing, sent, vendors)
        try:
            missing = await close_month(command.db, command.scope, name, body)
        except Conflict as error:
            if not error.violations:
                raise
            raise _NotReady(error, await load_names(command.db, command.scope)) from error
        listed = {"missing": [each._asdict() for each in missing]} if missing else {}
        await command.audit("close_month", f"month/{vendor}/{name}", sent | listed)
        return missing

    try:
        missing = run_changing("month close", organisation, run)
    except _NotReady as error:
        _refuse_closing(error)
    without = f"; {len(missing)} things were missing" if missing else ""
    _print_success(f"{vendor} {name} is closed{without}", as_json=json)


@month.command
def reopen(
    name: str,
    /,
    *,
    vendor: BilledVendorName,
    reason: str,
    organisation: Organisation,
    json: JsonSwitch = False,
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
    """
    refuse_invalid_month(name)
    sent = {"vendor": vendor, "reason": reason}

    async def run(command: CommandTransaction) -> None:
        vendors = await list_named_vendors(command, vendor)
        body = parse_body(MonthReopening, sent, vendors)
        await reopen_month(command.db, command.scope, name, body)
        await command.audit("reopen_month", f"month/{vendor}/{name}", sent)

    run_changing("month reopen", organisation, run)
    _print_success(f"{vendor} {name} is open", as_json=json)


def _refuse_closing(error: _NotReady) -> NoReturn:
    """The object lists ids like the API; the text shows names beside them."""
    reason = error.reason
    missing = [f"{add_name(each.field, error.names)}: {each.rule}" for each in reason.violations]
    advice = ["To close it anyway, pass --override and --reason."] if missing else []
    first_sentence = f"{reason.detail.partition('. ')[0].rstrip('.')}."
    exit_with_error(
        REFUSED,
        "\n  ".join([first_sentence, *missing, *advice]),
        code=reason.code,
        detail=" ".join([first_sentence, *advice]),
        violations=reason.violations,
    )


def _print_status(status: MonthStatus, names: Names) -> None:
    provisional = ", provisional costs" if status.provisional else ""
    ready = ", can be closed" if status.can_be_closed else ""
    print_text(f"{status.vendor} {status.month}: {status.state}{provisional}{ready}")
    for step in status.steps:
        print_text(f"  {step.step:10} {step.state.replace('_', ' ')}{_format_action(step)}")
        for blocker in step.blockers:
            print_text(f"    {_format_blocker(blocker, names)}")


def _format_action(step: MonthStep) -> str:
    return f", {step.done_time} by {step.done_by}" if step.done_by else ""


def _format_blocker(blocker: StepBlocker, names: Names) -> str:
    shown = [add_name(subject, names) for subject in blocker.subjects[:RECORDS_SHOWN_MAX]]
    others = len(blocker.subjects) - len(shown)
    shown += [f"and {others} more"] if others else []
    return f"{blocker.reason}: {', '.join(shown)}" if shown else blocker.reason


def _print_success(text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(exact_json.encode(Success()))
    else:
        print_text(text)
