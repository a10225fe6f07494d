"""Rule table of invoice settings: every cell at its limits, and where the columns differ."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import (
    ALLOWED_VALUES,
    RuleColumn,
    find_update_violations,
    find_violations,
    find_violations_by_vendor,
)
from nimbill.foundation.rules import Between, OneOf, PerVendor, Rule
from nimbill.foundation.vendor_names import BILLED_VENDORS
from nimbill.foundation.vendors import BilledVendor

COLUMNS: tuple[RuleColumn, ...] = ("create", "update")
TINY = Decimal("0.000000000001")

# every word of the table, so that each cell is tried with the words of the others
WORDS = {
    word
    for row in ALLOWED_VALUES.values()
    for cell in row
    for rule in (cell.rows.values() if isinstance(cell, PerVendor) else [cell])
    if isinstance(rule, OneOf)
    for word in rule.values
}


def get_rule(field: str, column: RuleColumn, vendor: BilledVendor) -> Rule:
    cell = getattr(ALLOWED_VALUES[field], column)
    return cell[vendor] if isinstance(cell, PerVendor) else cell


def list_cells() -> Iterator[Any]:
    for field in ALLOWED_VALUES:
        for column in COLUMNS:
            for vendor in BILLED_VENDORS:
                rule = get_rule(field, column, vendor)
                yield pytest.param(field, column, vendor, rule, id=f"{field}-{column}-{vendor}")


def check(
    field: str, value: object, column: RuleColumn, vendor: BilledVendor
) -> list[tuple[str, str]]:
    violations = find_violations_by_vendor({vendor: {field: value}}, column=column)
    return [(violation.field, violation.rule) for violation in violations]


@pytest.mark.parametrize(("field", "column", "vendor", "rule"), list(list_cells()))
def test_a_cell_allows_its_values_and_refuses_all_others(
    field: str, column: RuleColumn, vendor: BilledVendor, rule: Rule
) -> None:
    if isinstance(rule, Between):
        allowed: set[object] = {rule.low, rule.high, (rule.low + rule.high) / 2}
        refused: set[object] = {rule.low - TINY, rule.high + TINY, -1, 10**7, "0", "", None}
    else:
        assert isinstance(rule, OneOf)
        allowed = set(rule.values)
        refused = {*WORDS - set(rule.values), "", "ACCOUNT", 0, None}

    for value in allowed:
        assert check(field, value, column, vendor) == [], value
    for value in refused:
        violations = [(f"invoices.{vendor}.{field}", str(rule))]
        assert check(field, value, column, vendor) == violations, value


@pytest.mark.parametrize("vendor", BILLED_VENDORS)
@pytest.mark.parametrize("field", ALLOWED_VALUES)
def test_with_both_columns_the_values_of_either_are_allowed(
    field: str, vendor: BilledVendor
) -> None:
    rules = [get_rule(field, column, vendor) for column in COLUMNS]
    words = {word for rule in rules if isinstance(rule, OneOf) for word in rule.values}
    limits = {rule.high for rule in rules if isinstance(rule, Between)}
    refused = (WORDS - words) | {""} if words else {max(limits) + TINY, -TINY}
    description = ", or ".join(dict.fromkeys(str(rule) for rule in rules))

    for value in words or limits:
        assert not list(find_violations({field: value}, vendor, COLUMNS, "invoices")), value
    for value in refused:
        (violation,) = find_violations({field: value}, vendor, COLUMNS, "invoices")
        assert violation == (f"invoices.{field}", description), value


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
def test_create_and_update_allow_different_values(
    field: str, value: object, *, on_create: bool, on_update: bool
) -> None:
    for vendor in BILLED_VENDORS:
        assert (check(field, value, "create", vendor) == []) is on_create
        assert (check(field, value, "update", vendor) == []) is on_update


@pytest.mark.parametrize("plan", ["aws_developer", "aws_business", "aws_enterprise"])
def test_only_an_update_refuses_aws_support_plans_for_azure(plan: str) -> None:
    assert check("support_fee", plan, "create", "aws") == []
    assert check("support_fee", plan, "create", "azure") == []
    assert check("support_fee", plan, "update", "aws") == []
    assert check("support_fee", plan, "update", "azure") == [
        ("invoices.azure.support_fee", "one of percent, fix")
    ]


@pytest.mark.parametrize("invoices", [None, [], "aws", 7, {}, {"aws": None}, {"aws": []}])
def test_values_of_a_wrong_type_are_left_to_the_body_check(invoices: object) -> None:
    assert list(find_violations_by_vendor(invoices, column="create")) == []


def test_absent_and_unknown_fields_break_no_rule() -> None:
    assert list(find_violations_by_vendor({"aws": {"unknown": "x"}}, column="create")) == []


def test_violations_are_in_the_order_of_the_vendors() -> None:
    invoices = {vendor: {"currency": "eur"} for vendor in ("azure", "aws", "gcp")}

    violations = find_violations_by_vendor(invoices, column="update")

    assert [violation.field for violation in violations] == [
        "invoices.aws.currency",
        "invoices.azure.currency",
    ]


def test_an_update_names_the_setting_that_would_allow_the_value() -> None:
    (violation,) = find_update_violations({"tax_rate": Decimal("0.10")}, "aws", "invoices")

    assert violation.field == "invoices.tax_rate"
    assert violation.rule.startswith("from 0 to 0.08; ")
    assert "invoice_setting_update either" in violation.rule


def test_an_update_with_a_value_that_nothing_allows_names_no_setting() -> None:
    (violation,) = find_update_violations({"tax_rate": Decimal("0.11")}, "aws", "invoices")

    assert "invoice_setting_update" not in violation.rule
    assert list(find_update_violations({"tax_rate": Decimal("0.08")}, "aws", "invoices")) == []
