"""What the words of an invoice setting settle, in every combination there is."""

from __future__ import annotations

from itertools import product

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED
from nimbill.customers.billing_groups.settled_terms import BASES, SCOPES, Settled, crossed, settle
from nimbill.foundation.rules import OneOf

WORDS = (*BASES, *SCOPES)
BEFORE = (
    None,
    *(Settled(*terms) for terms in product(BASES, SCOPES, BASES, (None, *SCOPES))),
)


def sent(calc_target: str, target_usage: str, support: str) -> dict[str, str]:
    return {
        "substitution_fee_calc_target": calc_target,
        "substitution_fee_target_usage": target_usage,
        "support_fee_calc_target": support,
    }


def test_the_words_are_those_of_the_table() -> None:
    for field in sent("", "", ""):
        for cell in ALLOWED[field]:
            assert isinstance(cell, OneOf)
            assert set(cell.words) in (set(BASES), set(SCOPES))


@pytest.mark.parametrize("before", BEFORE, ids=str)
def test_each_word_sets_its_dimension_and_no_other(before: Settled | None) -> None:
    for basis, scope, support in product(BASES, SCOPES, WORDS):
        for pair in ((basis, scope), (scope, basis)):
            terms = settle(sent(*pair, support), before)

            assert (terms.substitution_basis, terms.substitution_scope) == (basis, scope)
            if support in BASES:
                assert terms.support_basis == support
                assert terms.support_scope == (before.support_scope if before else None)
            else:
                assert terms.support_scope == support
                assert terms.support_basis == (before.support_basis if before else "nondiscount")


@pytest.mark.parametrize(("first", "second"), list(product(WORDS, WORDS)))
def test_two_words_for_one_dimension_are_refused_and_only_those(first: str, second: str) -> None:
    broken = [tuple(violation) for violation in crossed(sent(first, second, "discounted"), "in")]

    both_bases = first in BASES and second in BASES
    both_scopes = first in SCOPES and second in SCOPES
    field = "in.substitution_fee_target_usage"
    expected = {
        (True, False): [(field, "one of cloudpayonly, cloudpaywithfee beside the other word")],
        (False, True): [(field, "one of nondiscount, discounted beside the other word")],
        (False, False): [],
    }
    assert broken == expected[both_bases, both_scopes]


def test_one_column_alone_can_never_be_crossed() -> None:
    pair = ("substitution_fee_calc_target", "substitution_fee_target_usage")
    for column in ("create", "update"):
        cells = [getattr(ALLOWED[field], column).words for field in pair]
        for first, second in product(*cells):
            assert list(crossed(sent(first, second, "discounted"), "in")) == []


def test_create_then_update_then_create_words_keep_what_nobody_says() -> None:
    created = settle(sent("discounted", "cloudpaywithfee", "discounted"), None)
    assert created == Settled("discounted", "cloudpaywithfee", "discounted", None)

    updated = settle(sent("cloudpayonly", "nondiscount", "cloudpaywithfee"), created)
    assert updated == Settled("nondiscount", "cloudpayonly", "discounted", "cloudpaywithfee")

    saved_back = settle(sent("nondiscount", "cloudpayonly", "nondiscount"), updated)
    assert saved_back == Settled("nondiscount", "cloudpayonly", "nondiscount", "cloudpaywithfee")
