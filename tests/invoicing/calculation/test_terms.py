"""Terms are read from a setting's 17 fields and what its crosswise words settle."""

from __future__ import annotations

from decimal import Decimal

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED
from nimbill.customers.billing_groups.settled_terms import settle
from nimbill.foundation.money import Rounding
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.calculation.terms import CROSSWISE, Terms, terms_of
from tests.invoicing.worked_examples import example


def test_the_words_of_the_setting_and_what_they_settle() -> None:
    case = example("a").case
    created = dict(case.sent[0])
    updated = created | {
        "substitution_fee_calc_target": "cloudpayonly",
        "substitution_fee_target_usage": "nondiscount",
        "support_fee_calc_target": "cloudpaywithfee",
    }
    before = settle(created | {"support_fee_calc_target": "discounted"}, None)

    found = terms_of(
        updated,
        settle(updated, before),
        exchange_rate=Decimal("150.25"),
        rounding=Rounding.up,
        usage_table=((None, Decimal("0.1")),),
        month="2026-10",
    )

    assert found.currency is Currency.jpy
    assert (found.substitution_basis, found.substitution_scope) == ("nondiscount", "cloudpayonly")
    assert (found.support_basis, found.support_scope) == ("discounted", "cloudpaywithfee")
    assert (found.exchange_rate, found.rounding) == (Decimal("150.25"), Rounding.up)
    for field in set(ALLOWED) - set(CROSSWISE):
        assert getattr(found, field) == updated[field], field


def test_every_field_of_a_setting_is_in_the_terms_or_settled() -> None:
    assert set(ALLOWED) - set(CROSSWISE) < set(Terms.__struct_fields__)
    assert not set(CROSSWISE) & set(Terms.__struct_fields__)
