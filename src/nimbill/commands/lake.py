"""`nimbill lake`: verify the files of cost lines."""

import sys
from json import dumps

from cyclopts import App
from sqlalchemy.ext.asyncio import AsyncEngine

from nimbill.application.open_database import run_with_engine
from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import Switch, print_json, print_text
from nimbill.costs.lake.verification import LakeVerification, verify_lake
from nimbill.database.tenant_lookup import LookupKind, find_organisation_id
from nimbill.foundation.errors import not_found
from nimbill.foundation.settings import Settings

DAMAGED = 1  # exit code

lake = App(name="lake", help="The files of cost lines.")


@lake.command
def verify(*, organisation: str, json: Switch = False) -> None:
    """Verify that files, digests and sums of all months agree; exit code 1 if they do not.

    Parameters
    ----------
    organisation
        Id of the organisation.
    json
        Print one JSON object and nothing else.
    """
    settings = load_command_settings()
    result = run_with_engine(
        settings, lambda engine, _: _verify(engine, settings, organisation), migrates=False
    )
    if json:
        problems = [problem._asdict() for problem in result.problems]
        fields = result._asdict() | {"intact": not problems, "problems": problems}
        print_json(dumps(fields).encode())
    else:
        _print_result(result)
    if result.problems:
        sys.exit(DAMAGED)


async def _verify(
    engine: AsyncEngine, settings: Settings, organisation_id: str
) -> LakeVerification:
    async with engine.connect() as db:
        if await find_organisation_id(db, LookupKind.organisation, organisation_id) is None:
            raise not_found()
    return await verify_lake(engine, settings, organisation_id)


def _print_result(result: LakeVerification) -> None:
    for problem in result.problems:
        place = problem.path or f"{problem.vendor} {problem.month}"
        print_text(f"{problem.reason}: {place}{': ' + problem.detail if problem.detail else ''}")
    state = "damaged" if result.problems else "intact"
    checked = f"{result.files} files, {result.bytes} bytes, {result.months} months"
    print_text(f"{state}: {checked} of {result.organisation_id}")
