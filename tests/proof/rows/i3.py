"""Unknown fields in a body change nothing, whatever their name.

Every field of every body and every column of every table is put into every body; the stored result
must equal that of the same body without them. tests/contract/test_mass_assignment.py is this row.
"""

from __future__ import annotations

from tests.proof.row import Measurement
from tests.proof.row_environment import ROOT, RowEnvironment
from tests.proof.run_tests import run_tests

TARGET = "every known name in every body: 0 changed columns outside what the body declares"
QUICK = FULL = 1
SECONDS_MAX = 900
CASES_MIN = 20  # cases; a lower number means that routes were lost
INSIDE = ("tests/contract/test_mass_assignment.py",)


def measure(_environment: RowEnvironment, _size: int) -> Measurement:
    result = run_tests(ROOT, *INSIDE)
    return Measurement(
        f"{result.passed} cases pass, {len(result.failures)} fail", result.misses(CASES_MIN)
    )
