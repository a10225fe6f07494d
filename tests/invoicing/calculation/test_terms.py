"""Building terms from the 17 fields of a setting and its fee targets."""

from __future__ import annotations

from decimal import Decimal

from nimbill.customers.billing_groups.fee_targets import resolve_fee_targets
from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding
from nimbill.invoicing.calculation.terms import FEE_TARGET_FIELDS, Terms, build_terms
from tests.invoicing.worked_examples import load_example


def test_terms_contain_the_setting_and_the_resolved_fee_targets() -> None:
    case = load_example("a").case
    created = dict(case.settings[0])
    updated = created | {
        "substitution_fee_calc_target": "cloudpayonly",
        "substitution_fee_target_usage": "nondiscount",
        "support_fee_calc_target": "cloudpaywithfee",
    }
    before = resolve_fee_targets(created | {"support_fee_calc_target": "discounted"}, None)

    found = build_terms(
        updated,
        resolve_fee_targets(updated, before),
        exchange_rate=Decimal("150.25"),
        rounding=Rounding.up,
        usage_table=((None, Decimal("0.1")),),
        month="2026-10",
    )

    assert found.currency is Currency.jpy
    assert (found.substitution_basis, found.substitution_scope) == ("nondiscount", "cloudpayonly")
    assert (found.support_basis, found.support_scope) == ("discounted", "cloudpaywithfee")
    assert (found.exchange_rate, found.rounding) == (Decimal("150.25"), Rounding.up)
    for field in set(ALLOWED_VALUES) - set(FEE_TARGET_FIELDS):
        assert getattr(found, field) == updated[field], field


def test_every_field_of_a_setting_is_in_the_terms_or_resolved() -> None:
    assert set(ALLOWED_VALUES) - set(FEE_TARGET_FIELDS) < set(Terms.__struct_fields__)
    assert not set(FEE_TARGET_FIELDS) & set(Terms.__struct_fields__)
