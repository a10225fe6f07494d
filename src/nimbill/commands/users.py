"""`nimbill users`: set a new password for a user who lost it."""

from json import dumps

from cyclopts import App

from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, Switch, print_json, print_text, read_password
from nimbill.commands.organisation_command import Organisation, run_for_organisation
from nimbill.identity.organisations.operations import reset_password as reset_user_password

users = App(name="users", help="The users of an organisation.")


@users.command
def reset_password(
    username: str,
    /,
    *,
    organisation: Organisation,
    password_stdin: Switch = False,
    json: JsonSwitch = False,
) -> None:
    """Set a new password. Every session and every token of the user becomes invalid.

    Wrong passwords entered before no longer count, so the user can log in at once.

    Parameters
    ----------
    username
        Username of the root user, a subuser or a reseller.
    password_stdin
        Read the new password from standard input.
    """
    password = read_password("New password: ", from_stdin=password_stdin)
    user_id = run_for_organisation(
        load_command_settings(),
        organisation,
        lambda access: reset_user_password(
            access.engine, access.encryptor, access.scope, username=username, password=password
        ),
        changes=False,  # it helps in an emergency, and then nothing else should change
    )
    if json:
        print_json(dumps({"user_id": user_id, "username": username}).encode())
    else:
        print_text(f"The password of {username} was changed. Its sessions and tokens are invalid.")
