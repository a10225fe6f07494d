"""Whichever call fails while a file is made or a month taken in, what was there before is intact.

An exported file is made in the database and nowhere else, so its calls are the statements of the
request: the first fails, then the second, until none is left to fail. The error is the database's
own, for a full disk, an unreadable one, and a machine out of memory or of open files. Of an import
every file call fails in turn, with the system's own errors for the same troubles.
"""

from __future__ import annotations

from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.imports import failing_files
from tests.imports.taking import Taking
from tests.imports.test_faults import faults
from tests.invoicing.exports.asking import GROUPS, SETTINGS, ask, content, download, file_of, link
from tests.invoicing.exports.failing_statements import TROUBLES, failing_at
from tests.proof.database_faults import rows as asked
from tests.proof.row import Measurement
from tests.proof.stage import Stage
from tests.running_service import Service

TARGET = (
    "every n until success: 503, no link, the file before whole, no row left behind; of an import: "
    "nothing counts, the month before whole"
)
QUICK = 1  # times that every trouble is gone through
FULL = 10
SECONDS_MAX = 60

INSIDE = ("tests/invoicing/exports/test_faults.py", "tests/imports/test_faults.py")
STATEMENTS_MAX = 60


def measure(stage: Stage, size: int) -> Measurement:
    service = stage.service
    service.organisation = service.new_organisation("X9")
    create_billing_group(service, service.root(), billinggroup_id="1")
    failed, misses = 0, []
    for _ in range(size):
        for trouble, sqlstate in TROUBLES.items():
            for address in (GROUPS, SETTINGS):
                count, wrong = _made(stage, service, address, sqlstate)
                failed += count
                misses += [f"{trouble}: {one}" for one in wrong]
            count, wrong = _fetched(service, sqlstate)
            failed += count
            misses += [f"{trouble}: {one}" for one in wrong]
    calls, wrong = _imported(stage, size)
    said = f"{failed} statements and {calls} file calls failed in turn, by {len(TROUBLES)} troubles"
    misses += wrong
    return Measurement(f"{said}; {len(misses)} wrong", misses)


def _imported(stage: Stage, size: int) -> tuple[int, list[str]]:
    """The n-th file call of taking a month in fails, n from 1 until there is none."""
    calls, misses = 0, []
    for _ in range(size):
        for trouble, code in failing_files.TROUBLES.items():
            organisation = stage.service.new_organisation("X9")
            taking = Taking(stage.service, organisation, stage.new_folder("x9"))
            count, wrong = faults(taking, code)
            calls += count
            misses += [f"import, {trouble}: {one}" for one in wrong]
    return calls, misses


def _made(stage: Stage, service: Service, address: str, sqlstate: str) -> tuple[int, list[str]]:
    """The n-th statement of making a file fails, n from 1 until there is none."""
    root, wrong = service.root(), []
    before = link(service, address, root)
    old = content(service, before)
    for number in range(1, STATEMENTS_MAX):
        stored = _stored(stage, service)
        with failing_at(service, number, sqlstate) as counted:
            answer = ask(service, address, {"redo": False}, root)
        if not counted.failed:
            if answer.status_code != 200 or content(service, answer.json()["path"]) != old:
                wrong.append(f"after the last failure: {answer.status_code}")
            return number - 1, wrong
        if answer.status_code != 503 or answer.json().get("code") != "database_away":
            wrong.append(f"statement {number}: answered {answer.status_code} {answer.text[:200]}")
        if _stored(stage, service) != stored:
            wrong.append(f"statement {number}: something was left behind, or lost")
        kept = link(service, address, root, redo=True)
        if file_of(kept) != file_of(before) or content(service, kept) != old:
            wrong.append(f"statement {number}: the file before is not what it was")
    return STATEMENTS_MAX, [*wrong, "there was no end of statements"]


def _fetched(service: Service, sqlstate: str) -> tuple[int, list[str]]:
    path, wrong = link(service, headers=service.root()), []
    whole = content(service, path)
    for number in range(1, STATEMENTS_MAX):
        with failing_at(service, number, sqlstate) as counted:
            answer = download(service, path)
        if not counted.failed:
            if answer.content != whole:
                wrong.append("fetched after the last failure: another file")
            return number - 1, wrong
        if answer.status_code != 503:
            wrong.append(f"fetched at statement {number}: answered {answer.status_code}")
    return STATEMENTS_MAX, [*wrong, "there was no end of statements"]


def _stored(stage: Stage, service: Service) -> list[tuple[str, str]]:
    """Every file of the organisation with a digest of its bytes."""
    found = asked(
        stage.superuser,
        "SELECT export_id, md5(content) AS digest FROM exports WHERE organisation_id = $1 "
        "ORDER BY export_id",
        service.organisation.organisation_id,
    )
    return [(row["export_id"], row["digest"]) for row in found]
