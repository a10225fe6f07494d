"""Both columns of the table of allowed values, each row at each of its edges."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED, broken_in
from nimbill.foundation.rules import Between, OneOf, PerVendor, Rule
from nimbill.foundation.vendors import BILLED_VENDORS, BilledVendor

Column = Literal["create", "update"]
COLUMNS: tuple[Column, ...] = ("create", "update")
A_LITTLE = Decimal("0.000000000001")

# every word that stands anywhere in the table, so that each cell meets the words of its neighbours
WORDS = {
    word
    for row in ALLOWED.values()
    for cell in row
    for rule in (cell.rows.values() if isinstance(cell, PerVendor) else [cell])
    if isinstance(rule, OneOf)
    for word in rule.words
}


def cells() -> Iterator[Any]:
    for field, row in ALLOWED.items():
        for column in COLUMNS:
            for vendor in BILLED_VENDORS:
                cell = getattr(row, column)
                rule = cell[vendor] if isinstance(cell, PerVendor) else cell
                yield pytest.param(field, column, vendor, rule, id=f"{field}-{column}-{vendor}")


def broken(
    field: str, value: object, column: Column, vendor: BilledVendor
) -> list[tuple[str, str]]:
    return [tuple(v) for v in broken_in({vendor: {field: value}}, on=column)]  # type: ignore[misc]


@pytest.mark.parametrize(("field", "column", "vendor", "rule"), list(cells()))
def test_a_cell_allows_what_it_says_and_refuses_the_rest(
    field: str, column: Column, vendor: BilledVendor, rule: Rule
) -> None:
    if isinstance(rule, Between):
        allowed: set[object] = {rule.low, rule.high, (rule.low + rule.high) / 2}
        refused: set[object] = {rule.low - A_LITTLE, rule.high + A_LITTLE, -1, 10**7, "0", "", None}
    else:
        assert isinstance(rule, OneOf)
        allowed = set(rule.words)
        refused = {*WORDS - set(rule.words), "", "ACCOUNT", 0, None}

    for value in allowed:
        assert broken(field, value, column, vendor) == [], value
    for value in refused:
        named = [(f"invoices.{vendor}.{field}", str(rule))]
        assert broken(field, value, column, vendor) == named, value


@pytest.mark.parametrize(
    ("field", "value", "on_create", "on_update"),
    [
        ("tax_rate", Decimal("0.10"), True, False),
        ("tax_rate", Decimal("0.08"), True, True),
        ("tax_rate", Decimal("0.080001"), True, False),
        ("tax_rate", Decimal("0.100001"), False, False),
        ("discount_calc_logic", "allamount", False, True),
        ("substitution_fee_calc_target", "discounted", True, False),
        ("substitution_fee_calc_target", "cloudpayonly", False, True),
        ("substitution_fee_target_usage", "cloudpaywithfee", True, False),
        ("substitution_fee_target_usage", "nondiscount", False, True),
        ("support_amount_target", "cloudpayonlywithfee", False, True),
        ("support_fee_calc_target", "nondiscount", True, False),
        ("support_fee_calc_target", "cloudpaywithfee", False, True),
    ],
)
def test_where_the_columns_differ(
    field: str, value: object, *, on_create: bool, on_update: bool
) -> None:
    for vendor in BILLED_VENDORS:
        assert (broken(field, value, "create", vendor) == []) is on_create
        assert (broken(field, value, "update", vendor) == []) is on_update


@pytest.mark.parametrize("plan", ["aws_developer", "aws_business", "aws_enterprise"])
def test_support_plans_of_one_vendor_are_refused_to_another_on_update_alone(plan: str) -> None:
    assert broken("support_fee", plan, "create", "aws") == []
    assert broken("support_fee", plan, "create", "azure") == []
    assert broken("support_fee", plan, "update", "aws") == []
    assert broken("support_fee", plan, "update", "azure") == [
        ("invoices.azure.support_fee", "one of percent, fix")
    ]


@pytest.mark.parametrize("invoices", [None, [], "aws", 7, {}, {"aws": None}, {"aws": []}])
def test_what_is_no_setting_breaks_no_row(invoices: object) -> None:
    assert list(broken_in(invoices, on="create")) == []


def test_a_field_that_is_not_there_breaks_no_row() -> None:
    assert list(broken_in({"aws": {"unknown": "x"}}, on="create")) == []


def test_vendors_are_named_in_the_order_of_their_list() -> None:
    sent = {"azure": {"currency": "eur"}, "aws": {"currency": "eur"}, "gcp": {"currency": "eur"}}

    assert [violation.field for violation in broken_in(sent, on="update")] == [
        "invoices.aws.currency",
        "invoices.azure.currency",
    ]
