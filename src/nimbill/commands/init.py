"""`nimbill init`: create an organisation."""

from dataclasses import asdict
from json import dumps

from nimbill.application.open_database import run_with_engine
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import (
    JsonSwitch,
    Switch,
    print_json,
    print_text,
    read_password,
    refuse,
)
from nimbill.identity.organisations.operations import NewOrganisation, create_organisation


def init(
    *,
    organisation: str,
    username: str,
    password_stdin: Switch = False,
    json: JsonSwitch = False,
) -> None:
    """Create an organisation with its root user and first API client.

    Can be repeated for further organisations, also while the server runs.

    Parameters
    ----------
    organisation
        Name of the organisation.
    username
        Username of the root user: 4 to 18 letters, digits, _, . or -.
    password_stdin
        Read the password of the root user from standard input.
    """
    name = organisation.strip()
    if not name.isprintable() or not name:
        refuse("The name of the organisation must consist of printable characters.")
    password = read_password("Password of the root user: ", from_stdin=password_stdin)
    new_organisation = run_with_engine(
        load_command_settings(),
        lambda engine, encryptor: create_organisation(
            engine, encryptor, name=name, username=username, password=password
        ),
    )
    _print_organisation(new_organisation, as_json=json)


def _print_organisation(organisation: NewOrganisation, *, as_json: bool) -> None:
    fields = asdict(organisation)
    if as_json:
        print_json(dumps(fields).encode())
        return
    for name, value in fields.items():
        print_text(f"{name:16} {value}")
    print_text("The client secret is not shown again. Store it safely.")
