"""No organisation sees or changes records of another, nor records that a filter hides.

Every place of every request that names a record × {another organisation's, hidden by a filter,
deleted} × read and write. Every string of a tenant contains its canary. The test file below builds
the matrix from the routes and is this row.
"""

from __future__ import annotations

from tests.proof.row import Measurement
from tests.proof.row_environment import ROOT, RowEnvironment
from tests.proof.run_tests import run_tests

TARGET = (
    "0 canaries in any response or log, every response as for a record that never existed, 0 "
    "foreign rows changed"
)
QUICK = FULL = 1
SECONDS_MAX = 900
FEWEST = 300  # cases; a lower number means that routes were lost
INSIDE = ("tests/contract/test_tenant_isolation.py",)


def measure(_stage: RowEnvironment, _size: int) -> Measurement:
    ran = run_tests(ROOT, *INSIDE)
    return Measurement(f"{ran.passed} cases hold, {len(ran.failures)} do not", ran.misses(FEWEST))
