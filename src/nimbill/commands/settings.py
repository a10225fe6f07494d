"""`nimbill settings`: show and change the organisation settings, save the terms of a month."""

from typing import Any

import msgspec
from cyclopts import App
from msgspec import inspect

from nimbill.application.command_transaction import CommandTransaction
from nimbill.commands.console import JsonSwitch, print_json, print_text
from nimbill.commands.month_argument import refuse_invalid_month
from nimbill.commands.organisation_command import Organisation, run_changing, run_reading
from nimbill.commands.tables import print_fields
from nimbill.customers.organisation_settings import operations, records
from nimbill.customers.organisation_settings.bodies import (
    OrganisationSettings,
    OrganisationSettingsChange,
)
from nimbill.foundation import exact_json
from nimbill.foundation.errors import Invalid, Violation, refuse_if
from nimbill.http.request_bodies import Success, parse_body
from nimbill.invoicing.documents.bodies import SaveSettingsRequest
from nimbill.invoicing.documents.vendor_uses import find_used_vendors
from nimbill.invoicing.runs.operations import save_invoice_settings

# See docs/choices.md, command-line.

settings = App(name="settings", help="The settings of the organisation.")

_LISTS = ("vendors", "report_tag_keys")
_TEXT_TYPES = (inspect.StrType, inspect.EnumType, inspect.LiteralType)


@settings.command
def show(*, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Show the settings."""
    stored = run_reading(
        "settings show",
        organisation,
        lambda command: records.load_settings(command.db, command.scope),
    )
    _print_settings(stored, as_json=json)


@settings.command(name="set")
def set_(*assignments: str, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Change settings, for example `rounding=down cost_tag_key=Team vendors=aws,azure,gcp`.

    Parameters
    ----------
    assignments
        NAME=VALUE for each setting; an empty value clears a text, a table is written as JSON,
        vendors and report_tag_keys as JSON or separated by commas.
    """
    sent = dict(map(_parse_assignment, assignments))
    if not sent:
        raise Invalid("rule_broken", "Name a setting and its value, as in rounding=down.", [])
    body = parse_body(OrganisationSettingsChange, sent)

    async def run(command: CommandTransaction) -> OrganisationSettings:
        changed = await operations.change_settings(
            command.db, command.scope, body, find_used_vendors
        )
        await command.audit("change_settings", "settings", sent)
        return changed

    _print_settings(run_changing("settings set", organisation, run), as_json=json)


@settings.command
def save(month: str, /, *, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Save every billing group's own terms for a month, before its rates.

    Parameters
    ----------
    month
        The month, yyyy-mm.
    """
    refuse_invalid_month(month)
    sent = {"settings": {}, "internal": True}
    body = parse_body(SaveSettingsRequest, sent)

    async def run(command: CommandTransaction) -> None:
        await save_invoice_settings(command.db, command.scope, month, body)
        await command.audit("save_invoice_settings", f"invoices/{month}/settings", sent)

    run_changing("settings save", organisation, run)
    if json:
        print_json(exact_json.encode(Success()))
    else:
        print_text(f"saved the terms of every billing group for {month}")


def _parse_assignment(assignment: str) -> tuple[str, Any]:
    """Values of settings that are no texts are written as JSON."""
    name, separator, value = assignment.partition("=")
    fields = {field.encode_name: field.type for field in _list_fields()}
    if not separator or name not in fields:
        refuse_if([Violation("setting", f"NAME=VALUE with one of the names {', '.join(fields)}")])
    types = getattr(fields[name], "types", (fields[name],))
    if any(isinstance(type_, _TEXT_TYPES) for type_ in types):
        return name, value
    if name in _LISTS and not value.lstrip().startswith("["):
        return name, [item.strip() for item in value.split(",")] if value else []
    return name, exact_json.decode(value.encode())


def _list_fields() -> tuple[inspect.Field, ...]:
    type_info = inspect.type_info(OrganisationSettingsChange)
    assert isinstance(type_info, inspect.StructType)
    return type_info.fields


def _print_settings(stored: OrganisationSettings, *, as_json: bool) -> None:
    if as_json:
        print_json(exact_json.encode({"settings": stored}))
        return
    print_fields(
        {
            name: "" if value is None else _format_value(value)
            for name, value in msgspec.structs.asdict(stored).items()
        }
    )


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else exact_json.encode(value).decode()
