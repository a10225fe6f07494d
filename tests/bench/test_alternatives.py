"""The alternatives return the fields of the service; otherwise the benchmark refuses to compare."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import bench
from nimbill.customers.billing_groups.bodies import BillingGroupRecord
from nimbill.customers.cloud_accounts.bodies import CloudAccountRecord
from nimbill.http.request_bodies import Body

FASTAPI_BODIES = Path(bench.__file__).parent / "alternatives" / "fastapi_bodies.py"
ON_REQUEST = {"etag"}  # fields that only some requests ask for


def read_fields(class_name: str) -> set[str]:
    """From the source, because the alternative's libraries are not installed for tests."""
    classes = {
        node.name: node
        for node in ast.parse(FASTAPI_BODIES.read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    fields: set[str] = set()
    for base in classes[class_name].bases:
        if isinstance(base, ast.Name) and base.id in classes:
            fields |= read_fields(base.id)
    return fields | {
        node.target.id
        for node in classes[class_name].body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


@pytest.mark.parametrize(
    ("record", "alternative"),
    [(BillingGroupRecord, "BillingGroupOut"), (CloudAccountRecord, "CloudAccountOut")],
)
def test_the_alternative_has_the_fields_of_the_record(record: type[Body], alternative: str) -> None:
    assert read_fields(alternative) == set(record.__struct_fields__) - ON_REQUEST
