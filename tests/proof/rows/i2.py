"""Row-level security alone prevents leaks: without the application's own filters nothing leaks.

Every condition on the organisation is removed from every query while the product starts, and row I1
is run. Only PostgreSQL's row-level security is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.fault_injection.replacements import PACKAGE, environment_with, read_source
from tests.fault_injection.startup.sitecustomize import Replacement
from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.rows.i1 import CASES_MIN
from tests.proof.rows.i1 import INSIDE as MATRIX
from tests.proof.run_tests import run_tests

TARGET = "I1 without the application's own filters: still 0 leaks (in make test: one in 120)"
SHORT = 120  # one case in this many
QUICK = 20
FULL = 1
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


def measure(environment: RowEnvironment, size: int) -> Measurement:
    removed, replacements = remove_own_filters()
    without_filters = environment_with(replacements, environment.new_folder("i2"))
    test_run = run_tests(*MATRIX, one_in=size, environment=without_filters)
    result = f"{test_run.passed} cases pass, {len(test_run.failures)} fail"
    # a report shows the first failures only, and a leak says more than a different response
    misses = sorted(test_run.misses(CASES_MIN // size), key=lambda miss: LEAK.search(miss) is None)
    return Measurement(f"{removed} conditions removed; {result}", misses)


def remove_own_filters() -> tuple[int, list[Replacement]]:
    """The number of removed conditions, and the files without them. An unknown form is an error."""
    removed, unknown, replacements = 0, list[str](), list[Replacement]()
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.sql")]):
        file = str(path.relative_to(PACKAGE))
        text = before = read_source(file)
        for condition, replacement in CONDITIONS:
            text, count = re.subn(condition, replacement, text)
            removed += count
        unknown += [
            f"{file}: {found}" for found in _find_unknown(text, is_sql=path.suffix == ".sql")
        ]
        if text != before:
            replacements.append((file, before, text))
    if unknown or removed < CONDITIONS_MIN:
        raise AssertionError(f"{removed} conditions removed, unknown forms: {unknown}")
    return removed, replacements


def _find_unknown(text: str, *, is_sql: bool) -> Iterator[str]:
    """A single equals sign is a condition in SQL and an assignment in Python."""
    for found in POSSIBLE_CONDITION.finditer(text):
        if not ALLOWED_CONDITION.match(found[0]) and ("==" in found[0] or is_sql):
            yield found[0]


VARIANTS = [
    BrokenVariant(
        "no-row-security",
        "Row security protects only the keys of organisations, so the query conditions are "
        "the only protection.",
        "changed rows of another tenant",
        "database/migrations/row_security.py",
        """op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")""",
        """if table == "organisation_keys":
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")""",
    ),
]
