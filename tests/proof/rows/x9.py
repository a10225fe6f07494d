"""Whichever call fails during an export or an import, the previous state stays intact.

An export is made in the database only, so its calls are the statements of the request: the first
fails, then the second, until none is left. The errors are the database's own for a full disk, an
unreadable disk, out of memory and too many open files. For an import every file call of Python
fails in turn, with the system's errors for the same problems. Then the data folder lies on a file
system of our own, and every call that reaches it fails in turn, whichever library makes it: during
imports, an export of a month as a file, and a sum of lines.
"""

from __future__ import annotations

from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.imports import failing_file_calls
from tests.imports.in_process_importer import InProcessImporter
from tests.imports.test_file_errors import fail_each_call
from tests.invoicing.exports.export_requests import (
    GROUPS,
    SETTINGS,
    create_link,
    download_content,
    download_file,
    file_path,
    request_export,
)
from tests.invoicing.exports.failing_statements import SQLSTATES, failing_at
from tests.proof.broken_variants import BrokenVariant
from tests.proof.disk_faults import CODES, fail_each_disk_call, importer_on_disk
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.running_service import Service
from tests.temporary_database import execute_sql

TARGET = (
    "every n until success: 503, no link, the previous file complete, no row left behind; for "
    "an import: nothing counts, the previous month complete; a clean error, whichever library calls"
)
QUICK = 1  # repetitions of every problem
FULL = 10
SECONDS_MAX = 600

INSIDE = (
    "tests/invoicing/exports/test_export_failures.py",
    "tests/imports/test_file_errors.py",
    "tests/proof/test_disk_faults.py",
)
QUICK_STEP = 25  # of the calls of the disk
STATEMENTS_MAX = 60


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    service.organisation = service.new_organisation("X9")
    create_billing_group(service, service.root(), billinggroup_id="1")
    failed, misses = 0, []
    for _ in range(size):
        for problem, sqlstate in SQLSTATES.items():
            for address in (GROUPS, SETTINGS):
                count, wrong = _fail_each_statement(environment, service, address, sqlstate)
                failed += count
                misses += [f"{problem}: {fault}" for fault in wrong]
            count, wrong = _fail_each_download(service, sqlstate)
            failed += count
            misses += [f"{problem}: {fault}" for fault in wrong]
    calls, wrong = _fail_each_file_call(environment, size)
    misses += wrong
    disk_calls, wrong = _fail_each_disk_call(environment, size)
    misses += wrong
    figures = (
        f"{failed} statements, {calls} file calls and {disk_calls} calls of the disk failed in "
        f"turn, with {len(SQLSTATES)} problems"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


def _fail_each_file_call(environment: RowEnvironment, size: int) -> tuple[int, list[str]]:
    """Let the n-th file call of an import fail, n from 1 until there is none."""
    calls, misses = 0, []
    for _ in range(size):
        for problem, code in failing_file_calls.ERROR_CODES.items():
            organisation = environment.service.new_organisation("X9")
            importer = InProcessImporter(
                environment.service, organisation, environment.new_folder("x9")
            )
            count, wrong = fail_each_call(importer, code)
            calls += count
            misses += [f"import, {problem}: {fault}" for fault in wrong]
    return calls, misses


def _fail_each_disk_call(environment: RowEnvironment, size: int) -> tuple[int, list[str]]:
    """In full size every call fails with every error."""
    calls, misses = 0, []
    with importer_on_disk(environment) as (disk, importer):
        for shift in range(min(size, len(CODES))):
            step = 1 if size >= FULL else QUICK_STEP
            faults = fail_each_disk_call(disk, importer, shift=shift, step=step)
            calls += faults.calls
            misses += faults.misses
    return calls, misses


def _fail_each_statement(
    environment: RowEnvironment, service: Service, address: str, sqlstate: str
) -> tuple[int, list[str]]:
    """Let the n-th statement of an export fail, n from 1 until there is none."""
    root, wrong = service.root(), []
    previous = create_link(service, address, root)
    old = download_content(service, previous)
    for number in range(1, STATEMENTS_MAX):
        stored = _stored(environment, service)
        with failing_at(service, number, sqlstate) as counted:
            answer = request_export(service, address, {"redo": False}, root)
        if not counted.failed:
            if answer.status_code != 200 or download_content(service, answer.json()["path"]) != old:
                wrong.append(f"after the last failure: {answer.status_code}")
            return number - 1, wrong
        if answer.status_code != 503 or answer.json().get("code") != "database_away":
            wrong.append(f"statement {number}: answered {answer.status_code} {answer.text[:200]}")
        if _stored(environment, service) != stored:
            wrong.append(f"statement {number}: a row was left behind or lost")
        link = create_link(service, address, root, redo=True)
        if file_path(link) != file_path(previous) or download_content(service, link) != old:
            wrong.append(f"statement {number}: the previous file has changed")
    return STATEMENTS_MAX, [*wrong, "the statements did not end"]


def _fail_each_download(service: Service, sqlstate: str) -> tuple[int, list[str]]:
    path, wrong = create_link(service, headers=service.root()), []
    content = download_content(service, path)
    for number in range(1, STATEMENTS_MAX):
        with failing_at(service, number, sqlstate) as counted:
            answer = download_file(service, path)
        if not counted.failed:
            if answer.content != content:
                wrong.append("downloaded after the last failure: another file")
            return number - 1, wrong
        if answer.status_code != 503:
            wrong.append(f"downloaded at statement {number}: answered {answer.status_code}")
    return STATEMENTS_MAX, [*wrong, "the statements did not end"]


def _stored(environment: RowEnvironment, service: Service) -> list[tuple[str, str]]:
    """Every file of the organisation with a digest of its bytes."""
    found = execute_sql(
        environment.superuser,
        "SELECT export_id, md5(content) AS digest FROM exports WHERE organisation_id = $1 "
        "ORDER BY export_id",
        service.organisation.organisation_id,
    )
    return [(row["export_id"], row["digest"]) for row in found]


VARIANTS = [
    BrokenVariant(
        "export-in-place",
        "An export of a month is written over the old file.",
        "the export is incomplete",
        "costs/focus_export.py",
        """partial = output.with_name(f".{output.name}.part")
        self._partial[output] = partial""",
        "partial = output",
    ),
    BrokenVariant(
        "old-file-removed-first",
        "The old file is removed in a separate transaction before the new one is stored.",
        "the previous file has changed",
        "invoicing/exports/operations.py",
        'export_id = new_id("exp")',
        """export_id = new_id("exp")
    from nimbill.database.tenant_scope import transaction

    async with transaction(resources.engine, caller.scope.organisation_id) as first:
        await first.execute(records.exports.delete().where(records.exports.c.kind == kind))""",
    ),
]
