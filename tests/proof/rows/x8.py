"""A full disk leaves no partial file: 503, the previous file stays, and freeing space is enough.

The database reports a full disk by its own error code when the file is written or at the commit.
Then the database, its journal, the data folder and the log lie on disks that become really full,
one after the other, while groups are created, costs imported and files exported. The service keeps
running and needs no restart; PostgreSQL, which stops if its journal is full, is started again.
"""

from __future__ import annotations

from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.invoicing.exports.export_requests import (
    GROUPS,
    create_link,
    download_content,
    file_path,
    parse_rows,
    request_export,
)
from tests.invoicing.exports.failing_statements import full_disk
from tests.proof.broken_variants import BrokenVariant
from tests.proof.full_disks import CYCLES, FullDisks, full_disks
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.temporary_database import execute_sql

TARGET = (
    "50 times full and free again: 503 with Retry-After, 0 partial imports, 0 partial files "
    "served, no restart of the service"
)
QUICK = 4
FULL = 50
SECONDS_MAX = 300

INSIDE = (
    "tests/invoicing/exports/test_export_failures.py",
    "tests/imports/test_file_errors.py",
    "tests/proof/test_full_disks.py",
)
REQUESTS_WHILE_FULL = 3
MISSES_MAX = 5


def measure(environment: RowEnvironment, size: int) -> Measurement:
    service = environment.service
    organisation = service.organisation = service.new_organisation("X8")
    root = service.root()
    refused, misses = 0, []
    create_billing_group(service, root, billinggroup_id="0")
    previous = create_link(service, headers=root)
    for cycle in range(1, size + 1):
        old = download_content(service, previous)
        create_billing_group(service, root, billinggroup_id=f"{cycle:04}", remarks="much " * 1000)
        with full_disk(environment.superuser, at_commit=cycle % 2 == 0):
            for _ in range(REQUESTS_WHILE_FULL):
                answer = request_export(service, GROUPS, {"redo": False}, root)
                refused += 1
                if answer.status_code != 503 or "retry-after" not in answer.headers:
                    misses.append(f"full disk answered {answer.status_code}: {answer.text[:200]}")
                elif answer.headers["content-type"] != "application/problem+json":
                    misses.append(f"full disk answered as {answer.headers['content-type']}")
                link = create_link(service, headers=root, redo=True)
                if file_path(link) != file_path(previous) or download_content(service, link) != old:
                    misses.append(f"the previous file was not kept in cycle {cycle}")
        previous = create_link(service, headers=root)
        found = parse_rows(download_content(service, previous))
        if [row[0] for row in found[1:]] != [f"{n:04}" if n else "0" for n in _order(cycle)]:
            misses.append(f"the file after cycle {cycle} is incomplete: {len(found)} rows")
    stored = execute_sql(
        environment.superuser,
        "SELECT count(*) AS files FROM exports WHERE organisation_id = $1",
        organisation.organisation_id,
    )[0]["files"]
    if stored != size + 1:
        misses.append(f"{stored} files are stored, {size + 1} were created")
    disks = _fill_each_disk(environment, size)
    misses += disks.misses
    figures = (
        f"{size} cycles, {refused} refused while full, {stored} files stored; {size} cycles of "
        f"full disks, {disks.statuses[503]} refused, {len(disks.stored)} groups and {disks.cost} "
        "imports stored"
    )
    return Measurement(f"{figures}; {len(misses)} wrong", misses)


def _fill_each_disk(environment: RowEnvironment, size: int) -> FullDisks:
    with full_disks(environment) as disks:
        for cycle in range(size):
            if len(disks.misses) < MISSES_MAX:
                disks.run_cycle(CYCLES[cycle % len(CYCLES)])
    return disks


def _order(cycle: int) -> range:
    """The groups by id: "0" sorts before "0001"."""
    return range(cycle + 1)


VARIANTS = [
    BrokenVariant(
        "full-disk-unexpected",
        "A full disk of the database is treated as an internal error.",
        "full disk answered 500",
        "database/tenant_scope.py",
        '_UNAVAILABLE_STATES = ("08", "53", "57", "58")',
        '_UNAVAILABLE_STATES = ("08", "57", "58")',
    ),
    BrokenVariant(
        "log-fails-requests",
        "A request fails if its log line cannot be written.",
        "a full disk of the log failed a request",
        "foundation/logs.py",
        """with suppress(OSError):
            super().msg(message)""",
        "super().msg(message)",
    ),
    BrokenVariant(
        "written-in-two-transactions",
        "The first half of a file is stored in a separate transaction.",
        "the previous file was not kept",
        "invoicing/exports/operations.py",
        'export_id = new_id("exp")',
        """export_id = new_id("exp")
    from nimbill.database.tenant_scope import transaction

    async with transaction(resources.engine, caller.scope.organisation_id) as first:
        await records.add_export(
            first,
            caller.scope,
            export_id=new_id("exp"),
            kind=kind,
            file_name=f"{kind}-{name_suffix}.csv",
            content=content[:3],
        )""",
    ),
]
