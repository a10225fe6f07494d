"""`nimbill audit`: verify the audit log."""

import sys

from cyclopts import App

from nimbill.application.installed import load_settings
from nimbill.application.open_database import run_with_database
from nimbill.audit.verification import VerificationResult, verify_chain
from nimbill.commands.console import Switch, print_json, print_text, progress_bar
from nimbill.commands.organisation_command import Organisation
from nimbill.database.tenant_scope import create_app_engine
from nimbill.foundation.encryption import Encryptor
from nimbill.identity.organisations.operations import find_organisation

BROKEN_CHAIN = 1  # exit code

audit = App(name="audit", help="The audit log.")


@audit.command
def verify(*, organisation: Organisation, json: Switch = False) -> None:
    """Verify the hash chain of an organisation's audit log; exit code 1 if it is broken.

    Parameters
    ----------
    json
        Print one JSON object and nothing else.
    """
    settings = load_settings()

    async def run(url: str, encryptor: Encryptor) -> VerificationResult:
        organisation_id = await _find_organisation_id(url, organisation)
        return await verify_chain(url, encryptor, settings.data / "audit", organisation_id)

    with progress_bar("audit log"):
        result = run_with_database(settings, run)
    if json:
        print_json(result.as_json().encode())
    else:
        print_text(result.as_text())
    if result.first_break is not None:
        sys.exit(BROKEN_CHAIN)


async def _find_organisation_id(url: str, organisation: str) -> str:
    """An id is verified even if the database no longer knows the organisation."""
    engine = create_app_engine(url)
    try:
        found = await find_organisation(engine, organisation)
    finally:
        await engine.dispose()
    return organisation if found is None else found.organisation_id
