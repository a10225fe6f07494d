"""Recalculation entries and reserved instances, against the specification's own tables."""

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
from tests.contract.specification import section, specification, table

Body = type[msgspec.Struct]

# what stands for a type of the specification in a body
KINDS: dict[str, set[Any]] = {
    "string": {str},
    "string or null": {str, NoneType},
    "number": {Decimal},
    "number or null": {Decimal, NoneType},
    "integer": {int},
    "boolean": {bool},
}


def kinds_of(body: Body) -> dict[str, set[Any]]:
    """The types of each field; the words of a vendor are strings."""
    found = {}
    for field in msgspec.structs.fields(body):
        kinds = get_args(field.type) if isinstance(field.type, UnionType) else (field.type,)
        found[field.encode_name] = {str if kind is BilledVendor else kind for kind in kinds}
    return found


def rows(heading: str) -> dict[str, set[Any]]:
    """Fields of a table in order, several of which may share a line."""
    return {
        name: KINDS[re.split(r" \(|, UTC", kind)[0]]
        for names, kind, *_ in table(section(specification(), heading), "Field")
        for name in names.split(", ")
    }


@pytest.mark.parametrize(
    ("heading", "body", "count"),
    [
        ("Recalculation record", RecalculationRecord, 21),
        ("RI purchased record", ReservedInstanceRecord, 29),
    ],
)
def test_a_record_has_the_rows_of_its_table_in_order_and_of_their_types(
    heading: str, body: Body, count: int
) -> None:
    specified = rows(heading)

    assert len(specified) == count
    assert list(kinds_of(body)) == list(specified)
    assert kinds_of(body) == specified


def test_every_field_of_a_record_is_always_there() -> None:
    for body in (RecalculationRecord, ReservedInstanceRecord):
        assert all(field.required for field in msgspec.structs.fields(body))


def test_apply_takes_what_is_stated_and_requires_all_of_it() -> None:
    said = re.search(r"Apply recalculation takes: (.*?)\. Its method", specification())
    assert said is not None
    named = re.findall(r"(\w+) \(([^)]*)\)", said[1])

    assert [name for name, _ in named] == list(RecalculationApply.__struct_fields__)
    assert all("required" in rule for _, rule in named)
    assert all(field.required for field in msgspec.structs.fields(RecalculationApply))


def test_move_takes_what_is_stated_and_requires_all_of_it() -> None:
    said = re.search(r"\| POST \| /ri/purchased/{ri_id} \| (.*?) \|", specification())
    assert said is not None
    named = re.findall(r"(\w+) \(([^)]*)\)", said[1])

    assert [name for name, _ in named] == list(ReservedInstanceMove.__struct_fields__)
    assert all("required" in rule for _, rule in named)
    assert all(field.required for field in msgspec.structs.fields(ReservedInstanceMove))
    (vendors,) = (re.findall(r"`(\w+)`", rule) for name, rule in named if name == "vendor")
    assert vendors == list(get_args(ReservedInstanceMove.__annotations__["vendor"]))
