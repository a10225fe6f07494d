"""The invoice setting and the billing group bodies, against the specification's own tables."""

import re
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from nimbill.customers.billing_groups.bodies import BillingGroupCreate, InvoiceSetting
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED
from nimbill.foundation.rules import Between, OneOf, PerVendor, Rule, between, one_of, per_vendor
from nimbill.foundation.vendors import BilledVendor
from nimbill.foundation.vocabulary import Language
from tests.contract.specification import section, specification, table

TYPES = {"string": str, "double": Decimal, "boolean": bool}


def specified_rows() -> dict[str, list[str]]:
    """Field to type, create column, update column."""
    rows = table(section(specification(), "Invoice setting"), "Field")
    return {field: rest for field, *rest in rows}


def says(cell: Rule | PerVendor, written: str) -> bool:
    """Whether a rule of ours allows exactly what the specification writes in a cell."""
    if isinstance(cell, PerVendor):
        parts = dict(re.findall(r"for vendor (\w+): ([^;]+)", written))
        return set(parts) == set(cell.rows) and all(says(cell[v], parts[v]) for v in parts)
    bounds = re.fullmatch(r"([\d.,]+) to ([\d.,]+)", written)
    if bounds:
        low, high = (Decimal(bound.replace(",", "")) for bound in bounds.groups())
        return isinstance(cell, Between) and (cell.low, cell.high) == (low, high)
    return isinstance(cell, OneOf) and sorted(cell.words) == sorted(written.split(", "))


def test_same_fields_in_the_same_order() -> None:
    assert list(ALLOWED) == list(specified_rows()) == list(InvoiceSetting.__struct_fields__)


@pytest.mark.parametrize("field", ALLOWED)
def test_same_allowed_values(field: str) -> None:
    _, on_create, on_update = specified_rows()[field]

    assert says(ALLOWED[field].create, on_create)
    assert says(ALLOWED[field].update, on_update)


@pytest.mark.parametrize("field", ALLOWED)
def test_same_types_and_all_required(field: str) -> None:
    kind, *_ = specified_rows()[field]

    assert get_type_hints(InvoiceSetting)[field] is TYPES[kind]
    assert field in required_fields(InvoiceSetting)


def test_create_body_has_the_rows_of_the_specification() -> None:
    rows = table(section(specification(), "Billing group (create body)"), "Field")

    assert [row[0] for row in rows] == list(BillingGroupCreate.__struct_fields__)
    assert [row[0] for row in rows if row[2] == "Yes"] == required_fields(BillingGroupCreate)
    assert {row[0]: expected_type(row[1], row[3]) for row in rows} == {
        field: plain_type(hint)
        for field, hint in get_type_hints(BillingGroupCreate).items()
        if field in BillingGroupCreate.__struct_fields__
    }


def test_the_languages_are_the_specified_ones() -> None:
    rows = {row[0]: row[3] for row in table(section(specification(), "Billing group"), "Field")}

    assert re.findall(r"`(\w+)`", rows["language"]) == [language.value for language in Language]


def expected_type(written: str, rule: str) -> Any:
    if written.startswith("object keyed by vendor"):
        return dict[BilledVendor, InvoiceSetting]
    return Language if "`ja`" in rule else TYPES[written]


def required_fields(struct: Any) -> list[str]:
    """Fields without a default; keyword-only structs keep the order of the document."""
    return [field.name for field in msgspec.structs.fields(struct) if field.required]


def plain_type(hint: Any) -> Any:
    """The type without lengths and without `| None`."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not NoneType)
    return hint


@pytest.mark.parametrize(
    ("cell", "written", "same"),
    [
        (one_of("a", "b"), "b, a", True),
        (one_of("a", "b"), "a, b, c", False),
        (one_of("a", "b"), "a", False),
        (between("0", "1000000"), "0.00 to 1,000,000", True),
        (between("0", "1000000"), "0 to 100,000", False),
        (one_of("0", "1"), "0 to 1", False),
        (
            per_vendor(aws=one_of("x"), azure=one_of("y")),
            "for vendor aws: x; for vendor azure: y",
            True,
        ),
        (
            per_vendor(aws=one_of("x"), azure=one_of("x")),
            "for vendor aws: x; for vendor azure: y",
            False,
        ),
        (per_vendor(aws=one_of("x")), "for vendor aws: x; for vendor azure: y", False),
    ],
)
def test_a_difference_is_found(cell: Rule | PerVendor, written: str, same: bool) -> None:
    assert says(cell, written) is same
