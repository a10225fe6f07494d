"""A full disk makes no half file: 503, the file before stays whole, and freeing it is enough.

The database says that its disk is full, by its own error code, when the file is written or only
at the commit. The service goes on in between and needs no restart.
"""

from __future__ import annotations

from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.invoicing.exports.asking import GROUPS, ask, content, file_of, link, rows
from tests.invoicing.exports.failing_statements import full_disk
from tests.proof.database_faults import rows as asked
from tests.proof.row import Measurement
from tests.proof.stage import Stage

TARGET = "50 times full and free again: 503 with Retry-After, 0 half files served, no restart"
QUICK = 3
FULL = 50
SECONDS_MAX = 60

INSIDE = ("tests/invoicing/exports/test_faults.py", "tests/imports/test_faults.py")
ASKED_WHILE_FULL = 3


def measure(stage: Stage, size: int) -> Measurement:
    service = stage.service
    organisation = service.organisation = service.new_organisation("X8")
    root = service.root()
    refused, misses = 0, []
    create_billing_group(service, root, billinggroup_id="0")
    before = link(service, headers=root)
    for cycle in range(1, size + 1):
        old = content(service, before)
        create_billing_group(service, root, billinggroup_id=f"{cycle:04}", remarks="much " * 1000)
        with full_disk(stage.superuser, at_commit=cycle % 2 == 0):
            for _ in range(ASKED_WHILE_FULL):
                answer = ask(service, GROUPS, {"redo": False}, root)
                refused += 1
                if answer.status_code != 503 or "retry-after" not in answer.headers:
                    misses.append(f"full disk answered {answer.status_code}: {answer.text[:200]}")
                elif answer.headers["content-type"] != "application/problem+json":
                    misses.append(f"full disk answered as {answer.headers['content-type']}")
                kept = link(service, headers=root, redo=True)
                if file_of(kept) != file_of(before) or content(service, kept) != old:
                    misses.append(f"the file before was not kept in cycle {cycle}")
        before = link(service, headers=root)
        found = rows(content(service, before))
        if [row[0] for row in found[1:]] != [f"{n:04}" if n else "0" for n in _order(cycle)]:
            misses.append(f"the file after cycle {cycle} is not whole: {len(found)} rows")
    stored = asked(
        stage.superuser,
        "SELECT count(*) AS files FROM exports WHERE organisation_id = $1",
        organisation.organisation_id,
    )[0]["files"]
    if stored != size + 1:
        misses.append(f"{stored} files are stored, {size + 1} were answered")
    said = f"{size} cycles, {refused} refused while full, {stored} files stored"
    return Measurement(f"{said}; {len(misses)} wrong", misses)


def _order(cycle: int) -> range:
    """The groups there are, by id: "0" comes before "0001"."""
    return range(cycle + 1)
