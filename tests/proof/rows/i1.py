"""No organisation sees or changes records of another, nor records that a filter hides.

Every place of every request that names a record × {another organisation's, hidden by a filter,
deleted} × read and write. Every string of a tenant contains its canary. CSV, PDF and zip files are
opened, those behind links too. The test files below build the matrix from the routes and are this
row.
"""

from __future__ import annotations

from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.run_tests import run_tests

TARGET = (
    "0 canaries in any response, file or log, every response as for a record that never existed, 0 "
    "foreign rows changed"
)
QUICK = FULL = 1
SECONDS_MAX = 900
CASES_MIN = 300  # cases; a lower number means that routes were lost
INSIDE = (
    "tests/contract/test_tenant_isolation.py",
    "tests/contract/test_foreign_credentials.py",
    "tests/contract/test_group_filters.py",
)


def measure(_environment: RowEnvironment, _size: int) -> Measurement:
    result = run_tests(*INSIDE)
    return Measurement(
        f"{result.passed} cases pass, {len(result.failures)} fail", result.misses(CASES_MIN)
    )


VARIANTS = [
    BrokenVariant(
        "archive-not-filtered",
        "The zip file of archived documents contains those of hidden billing groups.",
        "the_hidden_group[export_archive",
        "issuing/archive/records.py",
        "*filter_visible_groups(scope),",
        "",
    ),
    BrokenVariant(
        "both-layers-open",
        "The query for billing groups has no organisation condition, and row security shows "
        "all rows.",
        "was shown",
        "customers/billing_groups/records.py",
        ".where(_IN_ORGANISATION)",
        '.where(sa.bindparam("organisation_id", type_=sa.Text).is_not(None))',
        also=[
            (
                "database/migrations/row_security.py",
                """\
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
""",
                "",
            )
        ],
    ),
    BrokenVariant(
        "exported-file-shared",
        "An exported CSV file is kept for all users of the organisation, whatever groups they see.",
        "the_hidden_group[export_",
        "invoicing/exports/records.py",
        "None if scope.billing_groups is None else sorted(scope.billing_groups)",
        "[scope.organisation_id]",
    ),
    BrokenVariant(
        "filter-ignored",
        "A filter on billing groups is stored and never applied.",
        "hidden_by_a_filter",
        "customers/billing_groups/records.py",
        "billing_groups.c.company_id == sa.func.any(visible_ids",
        "visible_ids.is_not(None",
    ),
]
