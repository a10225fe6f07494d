"""Invoice setting and billing group bodies agree with the tables of the specification."""

import re
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from nimbill.customers.billing_groups.bodies import BillingGroupCreate, InvoiceSetting
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.language import Language
from nimbill.foundation.rules import Between, OneOf, PerVendor, Rule, between, one_of, per_vendor
from nimbill.foundation.vendors import BilledVendor
from tests.contract.specification import read_table

TYPES = {"string": str, "double": Decimal, "boolean": bool}


def specified_rows() -> dict[str, list[str]]:
    """Type, create column and update column of each field."""
    return {field: rest for field, *rest in read_table("Invoice setting")}


def allows_exactly(rule: Rule | PerVendor, cell: str) -> bool:
    """Whether a rule allows exactly the values in a cell of the specification."""
    if isinstance(rule, PerVendor):
        parts = dict(re.findall(r"for vendor (\w+): ([^;]+)", cell))
        return set(parts) == set(rule.rows) and all(
            allows_exactly(rule[vendor], part) for vendor, part in parts.items()
        )
    bounds = re.fullmatch(r"([\d.,]+) to ([\d.,]+)", cell)
    if bounds:
        low, high = (Decimal(bound.replace(",", "")) for bound in bounds.groups())
        return isinstance(rule, Between) and (rule.low, rule.high) == (low, high)
    return isinstance(rule, OneOf) and sorted(rule.values) == sorted(cell.split(", "))


def test_the_setting_has_the_specified_fields_in_order() -> None:
    assert list(ALLOWED_VALUES) == list(specified_rows()) == list(InvoiceSetting.__struct_fields__)


@pytest.mark.parametrize("field", ALLOWED_VALUES)
def test_allowed_values_are_the_specified_ones(field: str) -> None:
    _, on_create, on_update = specified_rows()[field]

    assert allows_exactly(ALLOWED_VALUES[field].create, on_create)
    assert allows_exactly(ALLOWED_VALUES[field].update, on_update)


@pytest.mark.parametrize("field", ALLOWED_VALUES)
def test_fields_have_the_specified_types_and_are_required(field: str) -> None:
    type_, *_ = specified_rows()[field]

    assert get_type_hints(InvoiceSetting)[field] is TYPES[type_]
    assert field in required_fields(InvoiceSetting)


def test_the_table_of_limits_agrees_with_the_table_of_fields() -> None:
    limits = {
        row[0]: row[2] for row in read_table("Limits", "Limit") if row[1] == "invoice setting"
    }
    fields = {field: limit for names, limit in limits.items() for field in names.split(", ")}

    assert set(fields) == {
        field for field, rule in ALLOWED_VALUES.items() if isinstance(rule.create, Between)
    }
    for field, limit in fields.items():
        on_create, _, on_update = limit.partition("; ")
        on_update = on_update or on_create
        assert allows_exactly(ALLOWED_VALUES[field].create, on_create.removesuffix(" on create"))
        assert allows_exactly(ALLOWED_VALUES[field].update, on_update.removesuffix(" on update"))


def test_the_create_body_has_the_specified_fields() -> None:
    rows = read_table("Billing group create body")

    assert [row[0] for row in rows] == list(BillingGroupCreate.__struct_fields__)
    assert [row[0] for row in rows if row[2] == "Yes"] == required_fields(BillingGroupCreate)
    assert {row[0]: expected_type(row[1], row[3]) for row in rows} == {
        field: plain_type(hint)
        for field, hint in get_type_hints(BillingGroupCreate, include_extras=True).items()
        if field in BillingGroupCreate.__struct_fields__
    }


def test_the_languages_are_the_specified_ones() -> None:
    rules = {field: rule for field, *_, rule in read_table("Billing group create body")}

    assert re.findall(r"`(\w+)`", rules["language"]) == [language.value for language in Language]


def expected_type(type_: str, rule: str) -> Any:
    if type_.startswith("object keyed by vendor"):
        return dict[BilledVendor, InvoiceSetting]
    return Language if "`ja`" in rule else TYPES[type_]


def required_fields(struct: Any) -> list[str]:
    """Fields without a default; keyword-only structs keep the order of the document."""
    return [field.name for field in msgspec.structs.fields(struct) if field.required]


def plain_type(hint: Any) -> Any:
    """The type without lengths and without `| None`; keys that are vendors stay as they are."""
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (member for member in get_args(hint) if member is not NoneType)
    return hint


@pytest.mark.parametrize(
    ("rule", "cell", "expected"),
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
def test_a_different_rule_is_found(rule: Rule | PerVendor, cell: str, expected: bool) -> None:
    assert allows_exactly(rule, cell) is expected
