"""`nimbill lake`: verify the files of cost lines."""

import sys
from json import dumps

from cyclopts import App

from nimbill.commands.command_settings import load_command_settings
from nimbill.commands.console import JsonSwitch, print_json, print_text, progress_bar
from nimbill.commands.organisation_command import (
    Organisation,
    OrganisationAccess,
    run_for_organisation,
)
from nimbill.costs.lake.verification import LakeVerification, verify_lake

DAMAGED = 1  # exit code

lake = App(name="lake", help="The files of cost lines.")


@lake.command
def verify(*, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Verify that files, digests and sums of all months agree; exit code 1 if they do not."""
    settings = load_command_settings()

    async def run(access: OrganisationAccess) -> tuple[LakeVerification, str]:
        result = await verify_lake(access.engine, settings, access.scope.organisation_id)
        return result, access.organisation.name

    with progress_bar("lake"):
        result, name = run_for_organisation(settings, organisation, run, changes=False)
    if json:
        problems = [problem._asdict() for problem in result.problems]
        fields = result._asdict() | {"intact": not problems, "problems": problems}
        print_json(dumps(fields).encode())
    else:
        _print_result(result, name)
    if result.problems:
        sys.exit(DAMAGED)


def _print_result(result: LakeVerification, name: str) -> None:
    for problem in result.problems:
        place = problem.path or f"{problem.vendor} {problem.month}"
        print_text(f"{problem.reason}: {place}{': ' + problem.detail if problem.detail else ''}")
    state = "damaged" if result.problems else "intact"
    checked = f"{result.files} files, {result.bytes} bytes, {result.months} months"
    print_text(f"{state}: {checked} of {result.organisation_id} ({name})")
