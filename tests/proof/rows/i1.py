"""No organisation sees or changes records of another, nor records that a filter hides.

Every place of every request that names a record × {another organisation's, hidden by a filter,
deleted} × read and write. Every string of a tenant contains its canary. CSV, PDF and zip files are
opened, those behind links too. The test files below build the matrix from the routes and are this
row.
"""

from __future__ import annotations

from tests.proof.row import Measurement
from tests.proof.row_environment import ROOT, RowEnvironment
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
    result = run_tests(ROOT, *INSIDE)
    return Measurement(
        f"{result.passed} cases pass, {len(result.failures)} fail", result.misses(CASES_MIN)
    )
