"""The amounts of credit notes, by example and against a second implementation."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.credit_notes.credit_note_rules import (
    CreditKind,
    TaxedSum,
    TaxTerms,
    add_sums,
    calculate_tax,
    describe_unit,
    is_payable,
    is_returnable,
    is_within,
    subtract_by_rate,
    subtract_notes,
)
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding, round_amount, to_exact
from tests.credit_notes.independent_notes import CreditedInvoice

TEN_PERCENT = TaxTerms(Decimal("0.10"), Currency.jpy, Rounding.half_up)


def taxed(pre_tax: str | int, tax: str | int) -> TaxedSum:
    return TaxedSum(Decimal(pre_tax), Decimal(tax))


def test_a_correcting_note_has_the_tax_of_the_invoice_without_that_of_the_corrected_one() -> None:
    # 173156 × 0.10 = 17316 and (173156 - 7173) × 0.10 = 165983 × 0.10 = 16598
    tax = calculate_tax(CreditKind.lines, Decimal(7173), taxed(173156, 17316), TEN_PERCENT)

    assert tax == 17316 - 16598 == 718  # 7173 × 0.10 would be 717


def test_a_note_by_hand_has_the_rate_times_the_amount() -> None:
    assert calculate_tax(
        CreditKind.manual, Decimal(7173), taxed(173156, 17316), TEN_PERCENT
    ) == Decimal(717)


def test_a_full_note_returns_the_tax_that_is_left() -> None:
    left = taxed(100, 9)

    assert calculate_tax(CreditKind.full, Decimal(100), left, TEN_PERCENT) == 9


@pytest.mark.parametrize(
    ("kind", "amount", "left", "tax"),
    [
        (CreditKind.manual, 5, taxed(5, 0), 0),  # 0.5 is rounded up to more than is left
        (CreditKind.lines, 1, taxed(96, 9), 0),  # the corrected invoice has more tax than is left
        (CreditKind.manual, -5, taxed(-5, 0), 0),
        (CreditKind.lines, -95, taxed(-95, -10), -10),
    ],
)
def test_the_tax_is_between_zero_and_what_is_left(
    kind: CreditKind, amount: int, left: TaxedSum, tax: int
) -> None:
    assert calculate_tax(kind, Decimal(amount), left, TEN_PERCENT) == tax


def test_notes_are_subtracted_from_the_invoice() -> None:
    notes = [taxed(10, 1), taxed(5, 0)]

    assert subtract_notes(taxed(100, 10), notes) == taxed(85, 9)
    assert subtract_notes(taxed(100, 10), []) == taxed(100, 10)
    assert add_sums(notes) == taxed(15, 1)
    assert add_sums([]) == taxed(0, 0)
    assert [bool(each) for each in (taxed(0, 0), taxed(0, 1), taxed(1, 0))] == [False, True, True]


def test_sums_are_subtracted_for_every_rate_of_either() -> None:
    ten, eight = Decimal("0.10"), Decimal("0.08")
    left: dict[Decimal | None, TaxedSum] = {ten: taxed(100, 10)}

    difference = subtract_by_rate(left, {ten: taxed(100, 10), eight: taxed(100, 8)})

    assert difference == {ten: taxed(0, 0), eight: taxed(-100, -8)}


@pytest.mark.parametrize(
    ("difference", "returnable"),
    [
        ({Decimal("0.10"): taxed(100, 10)}, True),
        ({Decimal("0.10"): taxed(0, 0), None: taxed(5, 0)}, True),
        ({Decimal("0.10"): taxed(101, 10)}, False),
        ({Decimal("0.10"): taxed(1, -1)}, False),
        ({Decimal("0.08"): taxed(-1, 0)}, False),
        ({}, True),
    ],
)
def test_a_correction_returns_no_more_than_is_left(
    difference: dict[Decimal | None, TaxedSum], returnable: bool
) -> None:
    left = {Decimal("0.10"): taxed(100, 10), None: taxed(5, 0)}

    assert is_returnable(difference, left) is returnable


@pytest.mark.parametrize(
    ("amount", "currency", "payable"),
    [
        ("100", Currency.jpy, True),
        ("100.0", Currency.jpy, True),
        ("100.5", Currency.jpy, False),
        ("100.55", Currency.usd, True),
        ("100.555", Currency.usd, False),
        ("0", Currency.jpy, False),
        ("-1", Currency.jpy, False),
        ("1000000000000000", Currency.jpy, True),
        ("1000000000000001", Currency.jpy, False),
    ],
)
def test_a_note_has_whole_units(amount: str, currency: Currency, payable: bool) -> None:
    assert is_payable(Decimal(amount), currency) is payable


def test_the_unit_is_named() -> None:
    assert (
        describe_unit(Currency.jpy)
        == "a multiple of 1 JPY, greater than 0 and at most 1000000000000000"
    )
    assert describe_unit(Currency.usd).startswith("a multiple of 0.01 USD, ")


@pytest.mark.parametrize(
    ("amount", "left", "within"),
    [
        (0, 10, True),
        (10, 10, True),
        (11, 10, False),
        (-1, 10, False),
        (0, -10, True),
        (-10, -10, True),
        (-11, -10, False),
        (1, -10, False),
    ],
)
def test_a_note_is_between_zero_and_what_is_left(amount: int, left: int, within: bool) -> None:
    assert is_within(Decimal(amount), Decimal(left)) is within


KINDS = [kind for kind in CreditKind if kind is not CreditKind.correction]
BASES = st.integers(-(10**9), 10**9)
RATES = st.sampled_from([0, 8, 10, 100]) | st.integers(0, 100)
NOTES = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(-10, 110) | BASES), min_size=1, max_size=8
)


@given(BASES, RATES, st.sampled_from(Rounding), st.sampled_from(Currency), NOTES)
def test_both_implementations_agree_on_every_history(
    base: int,
    percent: int,
    mode: Rounding,
    currency: Currency,
    notes: list[tuple[CreditKind, int]],
) -> None:
    unit = {Currency.jpy: Decimal(1), Currency.usd: Decimal("0.01")}[currency]
    rate = Decimal(percent) / 100
    terms = TaxTerms(rate, currency, mode)
    other = CreditedInvoice(base, Fraction(percent, 100), str(mode))
    pre_tax = base * unit
    tax = round_amount(to_exact(pre_tax) * to_exact(rate), currency, mode)
    invoiced = left = TaxedSum(pre_tax, tax)
    only_corrected = True

    for kind, size in notes:
        share = base * size // 100 if -10 <= size <= 110 else size
        expected = other.credit(str(kind), share)
        amount = left.pre_tax if kind is CreditKind.full else share * unit
        assert is_within(amount, left.pre_tax) is (expected is not None)
        if expected is None:
            continue
        note = TaxedSum(amount, calculate_tax(kind, amount, left, terms))
        assert note == TaxedSum(expected[0] * unit, expected[1] * unit)
        left = subtract_notes(left, [note])
        assert is_within(left.pre_tax, invoiced.pre_tax)
        assert is_within(left.tax, invoiced.tax)
        if kind is CreditKind.full:
            assert not left
        only_corrected = only_corrected and kind is not CreditKind.manual
        if only_corrected:  # invoice and notes add up to the corrected invoice
            exact = to_exact(left.pre_tax) * to_exact(rate)
            assert left.tax == round_amount(exact, currency, mode)
