"""`nimbill organisations`: list the organisations of this installation, and delete one."""

import sys
from contextlib import ExitStack
from json import dumps

from cyclopts import App

from nimbill.application.open_database import run_with_database
from nimbill.application.organisations import (
    OrganisationSummary,
    delete_organisation,
    list_organisations,
)
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import (
    JsonSwitch,
    print_json,
    print_text,
    progress_bar,
    read_line,
    refuse,
)
from nimbill.commands.tables import OutputColumn, print_rows
from nimbill.foundation import clock

organisations = App(name="organisations", help="The organisations of this installation.")


@organisations.command(name="list")
def list_(*, json: JsonSwitch = False) -> None:
    """List every organisation with its id, names, root user and time of creation."""
    found = run_with_database(
        load_command_settings(), lambda url, _: list_organisations(url), migrates=False
    )
    if json:
        print_json(dumps({"organisations": [_as_dict(summary) for summary in found]}).encode())
        return
    columns = [
        OutputColumn("organisation_id"),
        OutputColumn("created"),
        OutputColumn("root user"),
        OutputColumn("short name", wraps=True),
        OutputColumn("name", wraps=True),
    ]
    print_rows(columns, [_format_row(summary) for summary in found])


@organisations.command
def delete(organisation: str, /, *, confirm: str | None = None, json: JsonSwitch = False) -> None:
    """Delete an organisation: its rows, cost lines, documents, mails and audit checkpoints.

    This cannot be undone. It is refused while the youngest invoice is within the retention period
    (NIMBILL_RETENTION_YEARS, 7 years by default), or while something of it is still running.

    Parameters
    ----------
    organisation
        Id of the organisation, as shown by `nimbill organisations list`.
    confirm
        The organisation's name, for scripts; asked for by default.
    """

    def ask_for_name(name: str) -> str:
        if confirm is not None:
            return confirm
        if json or not sys.stdin.isatty():
            refuse("Confirm with --confirm and the name of the organisation.")
        return read_line(f"Type the name of the organisation ({name}) to delete it: ")

    settings = load_command_settings()
    with ExitStack() as shown:

        def ask_then_show_progress(name: str) -> str:
            answer = ask_for_name(name)
            shown.enter_context(progress_bar("deletion"))
            return answer

        rows = run_with_database(
            settings,
            lambda url, _: delete_organisation(url, settings, organisation, ask_then_show_progress),
            migrates=False,
        )
    if json:
        print_json(dumps({"organisation_id": organisation, "deleted_rows": rows}).encode())
    else:
        print_text(f"{organisation} was deleted with {rows} rows and its files.")


def _format_row(summary: OrganisationSummary) -> list[str]:
    return [
        summary.organisation_id,
        clock.format_timestamp(summary.create_time)[:10],
        summary.username or "",
        summary.short_name,
        summary.name,
    ]


def _as_dict(summary: OrganisationSummary) -> dict[str, str | None]:
    return {
        "organisation_id": summary.organisation_id,
        "name": summary.name,
        "short_name": summary.short_name,
        "username": summary.username,
        "create_time": clock.format_timestamp(summary.create_time),
    }
