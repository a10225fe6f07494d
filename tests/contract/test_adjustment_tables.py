"""Recalculation entries and reserved instances agree with the tables of the specification."""

from __future__ import annotations

import re
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, get_args

import msgspec
import pytest

from nimbill.adjustments.recalculation.bodies import RecalculationApply, RecalculationRecord
from nimbill.adjustments.reserved_instances.bodies import (
    ReservedInstanceMove,
    ReservedInstanceRecord,
)
from nimbill.foundation.vendors import BilledVendor
from tests.contract.specification import read_table

Body = type[msgspec.Struct]

# type of the specification: types of a body's field
TYPES: dict[str, set[Any]] = {
    "string": {str},
    "string or null": {str, NoneType},
    "number": {Decimal},
    "number or null": {Decimal, NoneType},
    "integer": {int},
    "boolean": {bool},
}


def list_required(body: Body) -> list[msgspec.structs.FieldInfo]:
    """Without the fields that only a list with details has."""
    return [field for field in msgspec.structs.fields(body) if field.required]


def field_types(body: Body) -> dict[str, set[Any]]:
    """The types of each field; a vendor is a string."""
    types: dict[str, set[Any]] = {}
    for field in list_required(body):
        members = get_args(field.type) if isinstance(field.type, UnionType) else (field.type,)
        types[field.encode_name] = {str if type_ is BilledVendor else type_ for type_ in members}
    return types


def specified_types(heading: str) -> dict[str, set[Any]]:
    """The types of each field of a table, in order; a row may name several fields."""
    return {
        name: TYPES[re.split(r" \(|, UTC", type_)[0]]
        for names, type_, *_ in read_table(heading)
        for name in names.split(", ")
    }


@pytest.mark.parametrize(
    ("heading", "body", "count"),
    [
        ("Recalculation record", RecalculationRecord, 21),
        ("RI purchased record", ReservedInstanceRecord, 29),
    ],
)
def test_a_record_has_the_fields_of_its_table_with_their_types(
    heading: str, body: Body, count: int
) -> None:
    specified = specified_types(heading)

    assert len(specified) == count
    assert list(field_types(body)) == list(specified)
    assert field_types(body) == specified


def test_fields_that_are_not_specified_need_the_parameter_for_details() -> None:
    added: dict[Body, set[str]] = {
        RecalculationRecord: {"applied_month"},
        ReservedInstanceRecord: {"currency", "dest_customer_name", "dest_company_id"},
    }
    for body, names in added.items():
        optional = [field for field in msgspec.structs.fields(body) if not field.required]
        assert {field.name for field in optional} == names
        assert all(field.default is msgspec.UNSET for field in optional)


def test_apply_requires_exactly_the_specified_fields() -> None:
    rows = read_table("Recalculation", "Field")

    assert [field for field, *_ in rows] == list(RecalculationApply.__struct_fields__)
    assert {required for _, _, required, _ in rows} == {"Yes"}
    assert all(field.required for field in msgspec.structs.fields(RecalculationApply))


def test_move_requires_exactly_the_specified_fields() -> None:
    (request,) = (
        request
        for method, path, request, _ in read_table("Reserved-instance records", "Method")
        if (method, path) == ("POST", "/ri/purchased/{ri_id}")
    )
    rules = dict(re.findall(r"(\w+) \(([^)]*)\)", request))

    assert list(rules) == list(ReservedInstanceMove.__struct_fields__)
    assert all("required" in rule for rule in rules.values())
    assert all(field.required for field in msgspec.structs.fields(ReservedInstanceMove))
    vendors = re.findall(r"`(\w+)`", rules["vendor"])
    assert vendors == list(get_args(ReservedInstanceMove.__annotations__["vendor"]))
