"""`nimbill audit`: verify the audit log."""

import sys

from cyclopts import App

from nimbill.application.named_organisation import NamedOrganisation, find_organisation
from nimbill.application.open_database import run_with_database
from nimbill.audit.verification import VerificationResult, verify_chain
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, print_json, print_text, progress_bar
from nimbill.commands.organisation_command import Organisation
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import NotFound

BROKEN_CHAIN = 1  # exit code

audit = App(name="audit", help="The audit log.")


@audit.command
def verify(*, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Verify the hash chain of an organisation's audit log; exit code 1 if it is broken."""
    settings = load_command_settings()

    async def run(url: str, encryptor: Encryptor) -> tuple[VerificationResult, str]:
        found = await _find_organisation(url, organisation)
        folder = settings.data / "audit"
        return await verify_chain(url, encryptor, folder, found.organisation_id), found.name

    with progress_bar("audit log"):
        result, name = run_with_database(settings, run, migrates=False)
    if json:
        print_json(result.as_json().encode())
    else:
        print_text(f"{result.as_text()}{f' ({name})' if name else ''}")
    if result.first_break is not None:
        sys.exit(BROKEN_CHAIN)


async def _find_organisation(url: str, organisation: str) -> NamedOrganisation:
    """An id is verified even if the database no longer knows the organisation."""
    try:
        return await find_organisation(url, organisation)
    except NotFound:
        return NamedOrganisation(organisation, "")
