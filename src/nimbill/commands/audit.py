"""`nimbill audit`: verify the audit log."""

import sys

from cyclopts import App

from nimbill.application.open_database import run_with_database
from nimbill.audit.verification import verify_chain
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import Switch, print_json, print_text

BROKEN_CHAIN = 1  # exit code

audit = App(name="audit", help="The audit log.")


@audit.command
def verify(*, organisation: str, json: Switch = False) -> None:
    """Verify the hash chain of an organisation's audit log; exit code 1 if it is broken.

    Parameters
    ----------
    organisation
        Id of the organisation.
    json
        Print one JSON object and nothing else.
    """
    settings = load_command_settings()
    result = run_with_database(
        settings,
        lambda url, encryptor: verify_chain(url, encryptor, settings.data / "audit", organisation),
        migrates=False,
    )
    if json:
        print_json(result.as_json().encode())
    else:
        print_text(result.as_text())
    if result.first_break is not None:
        sys.exit(BROKEN_CHAIN)
