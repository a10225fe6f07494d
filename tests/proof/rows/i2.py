"""Row-level security alone prevents leaks: without the application's own filters nothing leaks.

In a copy of the project every condition on the organisation is removed from every query, and row I1
is run there. Only PostgreSQL's row-level security is left.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.proof.broken_variants import copy_project
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.rows.i1 import CASES_MIN
from tests.proof.rows.i1 import INSIDE as MATRIX
from tests.proof.run_tests import run_tests

TARGET = (
    "I1 without the application's own filters: still 0 leaks (in make test: one case in twenty)"
)
QUICK = 20
FULL = 1  # one case in this many
SECONDS_MAX = 900

CONDITIONS_MIN = 15  # fewer conditions mean that they are written in another form

# a condition on the organisation, and its replacement that matches every row
CONDITIONS = (
    (r"\w+(?:\.c)?\.organisation_id == (?:self\.)?scope\.organisation_id", "sa.true()"),
    (
        r'\w+\.c\.organisation_id == sa\.bindparam\("organisation_id"\)',
        'sa.bindparam("organisation_id", type_=sa.Text).is_not(None)',
    ),
    (
        r"\w+(?:\.c)?\.organisation_id == (organisation_id\b)",
        r"\1.is_not(None)",
    ),
    (r"\b(?:\w+\.)?organisation_id = \$1", "CAST($1 AS text) IS NOT NULL"),
    (r"\borganisation_id = :organisation_id\b", "CAST(:organisation_id AS text) IS NOT NULL"),
    (r"\b(?:\w+\.)?organisation_id = (?:organisation|mine)\b", "true"),
)
# joins stay, and so do the queries that look across organisations
ALLOWED_CONDITION = re.compile(
    r"organisation_id == (?!scope\b|self\b)\w+(?:\.c)?\.organisation_id"
    r"|organisation_id = \w+\.organisation_id"
    r"|organisation_id = current_setting"
)
LEAK = re.compile(r"changed rows of another tenant|was shown")
POSSIBLE_CONDITION = re.compile(r"organisation_id ={1,2} [^\s,)]+")


def measure(_environment: RowEnvironment, size: int) -> Measurement:
    with copy_project() as copy:
        removed = remove_own_filters(copy / "src" / "nimbill")
        test_run = run_tests(copy, *MATRIX, one_in=size)
    result = f"{test_run.passed} cases pass, {len(test_run.failures)} fail"
    # a report shows the first failures only, and a leak says more than a different response
    misses = sorted(test_run.misses(CASES_MIN // size), key=lambda miss: LEAK.search(miss) is None)
    return Measurement(f"{removed} conditions removed; {result}", misses)


def remove_own_filters(package: Path) -> int:
    """Remove the conditions and return their number. An unknown form is an error."""
    removed, unknown = 0, []
    for file in sorted([*package.rglob("*.py"), *package.rglob("*.sql")]):
        text = file.read_text()
        for condition, replacement in CONDITIONS:
            text, count = re.subn(condition, replacement, text)
            removed += count
        unknown += [
            f"{file.relative_to(package)}: {found[0]}"
            for found in POSSIBLE_CONDITION.finditer(text)
            if not ALLOWED_CONDITION.match(found[0]) and _is_condition(file, found[0])
        ]
        file.write_text(text)
    if unknown or removed < CONDITIONS_MIN:
        raise AssertionError(f"{removed} conditions removed, unknown forms: {unknown}")
    return removed


def _is_condition(file: Path, text: str) -> bool:
    """A single equals sign is a condition in SQL and an assignment in Python."""
    return "==" in text or file.suffix == ".sql"
