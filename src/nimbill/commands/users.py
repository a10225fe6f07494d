"""`nimbill users`: help a user who lost the password or a second factor."""

from json import dumps

from cyclopts import App

from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, Switch, print_json, print_text, read_password
from nimbill.commands.organisation_command import Organisation, run_for_organisation
from nimbill.identity.organisations.operations import remove_second_factors as remove_factors
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


@users.command
def remove_second_factors(
    username: str, /, *, organisation: Organisation, json: JsonSwitch = False
) -> None:
    """Remove all passkeys and authenticator apps of a user who lost them.

    The user signs in with the password alone. If the organisation requires a second factor, the
    user registers a new one when signing in.

    Parameters
    ----------
    username
        Username of the root user, a subuser or a reseller.
    """
    removed = run_for_organisation(
        load_command_settings(),
        organisation,
        lambda access: remove_factors(access.engine, access.scope, username=username),
        changes=False,  # it helps in an emergency, and then nothing else should change
    )
    if json:
        print_json(dumps({"username": username, "removed": removed}).encode())
    else:
        print_text(f"Removed {removed} second factors of {username}.")
