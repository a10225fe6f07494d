"""Unknown fields in a body change nothing, whatever their name.

Every field of every body and every column of every table is put into every body; the stored result
must equal that of the same body without them. tests/contract/test_mass_assignment.py is this row.
"""

from __future__ import annotations

from tests.proof.broken_variants import BrokenVariant
from tests.proof.row import Measurement
from tests.proof.row_environment import RowEnvironment
from tests.proof.run_tests import run_tests

TARGET = "every known name in every body: 0 changed columns outside what the body declares"
QUICK = FULL = 1
SECONDS_MAX = 900
CASES_MIN = 20  # cases; a lower number means that routes were lost
INSIDE = ("tests/contract/test_mass_assignment.py",)


def measure(_environment: RowEnvironment, _size: int) -> Measurement:
    result = run_tests(*INSIDE)
    return Measurement(
        f"{result.passed} cases pass, {len(result.failures)} fail", result.misses(CASES_MIN)
    )


VARIANTS = [
    BrokenVariant(
        "unknown-field-stored",
        "A billing group takes its internal id from the body, where the field is not declared.",
        "test_unknown_fields_change_nothing",
        "customers/billing_groups/records.py",
        "fields[reference] = fields[reference] or None",
        """fields[reference] = fields[reference] or None
    company_id = vars(body).get("company_id", company_id)""",
        also=[
            (
                "http/request_bodies.py",
                "class Body(msgspec.Struct, frozen=True, kw_only=True):",
                "class Body(msgspec.Struct, frozen=True, kw_only=True, dict=True):",
            ),
            (
                "http/request_bodies.py",
                "return msgspec.convert(sent, body_type)",
                """body = msgspec.convert(sent, body_type)
    vars(body).update(sent)
    return body""",
            ),
        ],
    ),
]
