"""Basis and scope of fees for every combination of setting values."""

from __future__ import annotations

from itertools import product

import pytest

from nimbill.customers.billing_groups.fee_targets import (
    AGENCY_FEE_FIELDS,
    BASES,
    SCOPES,
    FeeTargets,
    find_support_conflicts,
    find_target_conflicts,
    resolve_fee_targets,
)
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.rules import OneOf

VALUES = (*BASES, *SCOPES)
STORED_TARGETS = (
    None,
    *(FeeTargets(*targets) for targets in product(BASES, SCOPES, BASES, (None, *SCOPES))),
)


def build_setting(calc_target: str, target_usage: str, support: str) -> dict[str, str]:
    return {
        "substitution_fee_calc_target": calc_target,
        "substitution_fee_target_usage": target_usage,
        "support_fee_calc_target": support,
    }


def test_every_allowed_value_is_a_basis_or_a_scope() -> None:
    for field in build_setting("", "", ""):
        for cell in ALLOWED_VALUES[field]:
            assert isinstance(cell, OneOf)
            assert set(cell.values) in (set(BASES), set(SCOPES))


@pytest.mark.parametrize("stored", STORED_TARGETS, ids=str)
def test_each_value_sets_its_own_dimension_only(stored: FeeTargets | None) -> None:
    for basis, scope, support in product(BASES, SCOPES, VALUES):
        for pair in ((basis, scope), (scope, basis)):
            targets = resolve_fee_targets(build_setting(*pair, support), stored)

            assert (targets.substitution_basis, targets.substitution_scope) == (basis, scope)
            if support in BASES:
                assert targets.support_basis == support
                assert targets.support_scope == (stored.support_scope if stored else None)
            else:
                assert targets.support_scope == support
                assert targets.support_basis == (stored.support_basis if stored else "nondiscount")


@pytest.mark.parametrize(("first", "second"), list(product(VALUES, VALUES)))
def test_two_values_of_the_same_dimension_conflict(first: str, second: str) -> None:
    violations = find_target_conflicts(build_setting(first, second, "discounted"), "setting")

    field = "setting.substitution_fee_target_usage"
    needs_scope = (
        "one of cloudpayonly, cloudpaywithfee "
        "when substitution_fee_calc_target is nondiscount or discounted"
    )
    needs_basis = (
        "one of nondiscount, discounted "
        "when substitution_fee_calc_target is cloudpayonly or cloudpaywithfee"
    )
    expected = {
        (True, True): [(field, needs_scope)],
        (False, False): [(field, needs_basis)],
        (True, False): [],
        (False, True): [],
    }
    assert list(violations) == expected[first in BASES, second in BASES]


@pytest.mark.parametrize("column", ["create", "update"])
def test_values_of_one_column_never_conflict(column: str) -> None:
    allowed = [getattr(ALLOWED_VALUES[field], column).values for field in AGENCY_FEE_FIELDS]

    for first, second in product(*allowed):
        setting = build_setting(first, second, "discounted")
        assert list(find_target_conflicts(setting, "setting")) == []


def test_a_dimension_that_no_value_sets_keeps_its_stored_value() -> None:
    created = resolve_fee_targets(
        build_setting("discounted", "cloudpaywithfee", "discounted"), None
    )
    assert created == FeeTargets("discounted", "cloudpaywithfee", "discounted", None)

    updated = resolve_fee_targets(
        build_setting("cloudpayonly", "nondiscount", "cloudpaywithfee"), created
    )
    assert updated == FeeTargets("nondiscount", "cloudpayonly", "discounted", "cloudpaywithfee")

    updated_again = resolve_fee_targets(
        build_setting("nondiscount", "cloudpayonly", "nondiscount"), updated
    )
    assert updated_again == FeeTargets(
        "nondiscount", "cloudpayonly", "nondiscount", "cloudpaywithfee"
    )


@pytest.mark.parametrize("word", VALUES)
def test_a_target_must_not_contradict_the_word_of_the_setting(word: str) -> None:
    setting = {"support_fee_calc_target": word}
    for usage, scope in product(BASES, (None, *SCOPES)):
        found = list(find_support_conflicts(setting, {"usage": usage, "scope": scope}))

        fields = [violation.field for violation in found]
        if word in BASES:
            assert fields == ([] if usage == word else ["support_fee_target.usage"])
        else:
            assert fields == ([] if scope == word else ["support_fee_target.scope"])
        assert all(word in violation.rule for violation in found)


@pytest.mark.parametrize("other", [None, [], "text"])
def test_other_values_are_left_to_the_check_of_types(other: object) -> None:
    assert list(find_support_conflicts(other, {"usage": "discounted"})) == []
    assert list(find_support_conflicts({"support_fee_calc_target": "nondiscount"}, other)) == []
