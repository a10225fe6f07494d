"""The bases and formulas of the support fee and the agency fee."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from nimbill.customers.billing_groups.invoice_setting_rules import ALLOWED_VALUES
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import to_exact
from nimbill.foundation.rules import OneOf
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.calculation.fees import FEE_FORMULAS, apply_bands
from nimbill.invoicing.calculation.sheet import Fee, calculate_invoice
from nimbill.invoicing.calculation.terms import CannotBeBilled
from tests.invoicing.invoice_builders import build_charge, build_entry, build_terms

USAGE = (build_charge("100"), build_charge("500", marketplace=True, service="Firewall"))
FEE = build_entry("10", calc_type="Fee")


def month(*usage: str) -> MonthlyCharges:
    """An account for each amount."""
    return MonthlyCharges(
        cost_currency=Currency.usd,
        usage=tuple(
            build_charge(amount, account=str(number)) for number, amount in enumerate(usage)
        ),
    )


def fees(charges: MonthlyCharges, **differing: object) -> tuple[Decimal, Decimal]:
    """Support and agency fee after discount."""
    sheet = calculate_invoice(charges, build_terms(**differing))
    assert isinstance(sheet.support, Fee)
    assert isinstance(sheet.agency, Fee)
    return sheet.support.after, sheet.agency.after


def test_every_kind_of_fee_has_a_formula() -> None:
    words = set()
    for field, column in product(("support_fee", "substitution_fee"), ("create", "update")):
        cell = getattr(ALLOWED_VALUES[field], column)
        for rule in [cell] if isinstance(cell, OneOf) else cell.rows.values():
            words |= set(rule.values)

    assert set(FEE_FORMULAS) == words


@pytest.mark.parametrize(
    ("kind", "usage", "expected"),
    [
        ("aws_developer", "2000", "60"),  # the vendor's published examples
        ("aws_business", "85000", "6150"),
        ("aws_enterprise", "1200000", "70500"),
        ("aws_developer", "966.66", "29"),  # 28.9998
        ("aws_developer", "967", "29.01"),
        ("aws_business", "1000", "100"),
        ("aws_business", "1000.10", "100.01"),
        ("aws_business", "10000", "1000"),  # the ends of the bands
        ("aws_business", "80000", "5900"),
        ("aws_business", "250000", "14400"),
        ("aws_business", "350000", "17400"),
        ("aws_enterprise", "150000", "15000"),
        ("aws_enterprise", "150100", "15007"),
        ("aws_enterprise", "500000", "39500"),
        ("aws_enterprise", "1000000", "64500"),
    ],
)
def test_support_plans_match_the_vendors_prices(kind: str, usage: str, expected: str) -> None:
    support, _ = fees(month(usage), support_fee=kind)

    assert support == Decimal(expected)


@pytest.mark.parametrize(
    ("target", "scope", "basis", "expected"),
    [
        ("allusage", None, "nondiscount", "600"),
        ("allusage", "cloudpayonly", "nondiscount", "600"),
        ("allusage", "cloudpaywithfee", "nondiscount", "610"),
        ("cloudpayonlywithfee", None, "nondiscount", "110"),
        ("cloudpayonlywithfee", "cloudpayonly", "nondiscount", "100"),
        ("cloudpayonlywithfee", "cloudpaywithfee", "nondiscount", "110"),
        ("allusage", None, "discounted", "450"),
        ("allusage", "cloudpayonly", "discounted", "450"),
        ("allusage", "cloudpaywithfee", "discounted", "460"),  # an entry is never discounted
        ("cloudpayonlywithfee", None, "discounted", "85"),
        ("cloudpayonlywithfee", "cloudpayonly", "discounted", "75"),
        ("cloudpayonlywithfee", "cloudpaywithfee", "discounted", "85"),
    ],
)
def test_base_of_the_support_fee(target: str, scope: str | None, basis: str, expected: str) -> None:
    charges = MonthlyCharges(cost_currency=Currency.usd, usage=USAGE, entries=(FEE,))

    support, _ = fees(
        charges,
        discount_rate=Decimal("0.25"),
        support_fee="percent",
        support_rate=Decimal(1),
        support_amount_target=target,
        support_scope=scope,
        support_basis=basis,
    )

    assert support == Decimal(expected)


@pytest.mark.parametrize("calc_type", ["Credit", "Refund", "Upfront"])
def test_only_entries_of_type_fee_count_for_support(calc_type: str) -> None:
    charges = MonthlyCharges(
        cost_currency=Currency.usd, usage=USAGE, entries=(build_entry("10", calc_type=calc_type),)
    )

    support, _ = fees(
        charges,
        support_fee="percent",
        support_rate=Decimal(1),
        support_scope="cloudpaywithfee",
    )

    assert support == 600


def test_a_fixed_support_fee_is_due_if_all_usage_is_marketplace() -> None:
    charges = MonthlyCharges(cost_currency=Currency.usd, usage=USAGE[1:])

    support, _ = fees(charges, support_fix=Decimal(7), support_amount_target="cloudpayonlywithfee")

    assert support == 7


@pytest.mark.parametrize(
    ("basis", "scope", "expected"),
    [
        ("nondiscount", "cloudpayonly", "100"),
        ("nondiscount", "cloudpaywithfee", "140"),
        ("discounted", "cloudpayonly", "50"),
        ("discounted", "cloudpaywithfee", "70"),  # the support fee was discounted too
    ],
)
def test_base_of_the_agency_fee(basis: str, scope: str, expected: str) -> None:
    _, agency = fees(
        month("100"),
        discount_rate=Decimal("0.5"),
        discount_target_usage="cloudpaywithfee",
        support_fix=Decimal(40),
        substitution_rate=Decimal(1),
        substitution_basis=basis,
        substitution_scope=scope,
    )

    assert agency == Decimal(expected)


@pytest.mark.parametrize(
    ("kind", "together", "apart"),
    [
        ("percent", "31.00", "31.00"),
        ("fix", "2.00", "4.00"),  # once per account
        ("automatic", "31.00", "32.00"),  # 30 and the least of 2
    ],
)
def test_agency_fee_on_the_total_or_per_account(kind: str, together: str, apart: str) -> None:
    found = [
        fees(
            month("300", "10"),
            substitution_fee=kind,
            substitution_rate=Decimal("0.1"),
            substitution_fix=Decimal(2),
            substitution_fee_calc_type=calc_type,
        )[1]
        for calc_type in ("allsum", "account")
    ]

    assert found == [Decimal(together), Decimal(apart)]


def test_accounts_share_the_support_fee_in_proportion_to_usage_before_discount() -> None:
    """With everything discounted there is nothing left to be in proportion to."""
    _, agency = fees(
        month("30", "10"),
        discount_rate=Decimal(1),
        support_fix=Decimal(100),
        substitution_fee="automatic",
        substitution_rate=Decimal("0.1"),
        substitution_fix=Decimal(5),
        substitution_basis="discounted",
        substitution_scope="cloudpaywithfee",
        substitution_fee_calc_type="account",
    )

    assert agency == Decimal("12.5")  # 10 % of 75, and 5 because 10 % of 25 is less


def test_a_negative_base_has_no_fee() -> None:
    support, agency = fees(
        month("-100", "40"),
        support_fee="percent",
        support_rate=Decimal(1),
        substitution_rate=Decimal(1),
        substitution_fee_calc_type="account",
    )

    assert (support, agency) == (Decimal(0), Decimal(40))


def test_without_usage_there_are_no_fees() -> None:
    sheet = calculate_invoice(month(), build_terms(support_fix=Decimal(5), substitution_fee="fix"))

    assert (sheet.support, sheet.agency) == (None, None)


@pytest.mark.parametrize("usage", [[], ["100"]])
def test_a_missing_usage_table_is_refused(usage: list[str]) -> None:
    with pytest.raises(CannotBeBilled) as refused:
        calculate_invoice(month(*usage), build_terms(substitution_fee="usagetable"))

    assert refused.value.reason == "usage_table_missing"


BANDS = ((Decimal(100), Decimal("0.10")), (Decimal(1000), Decimal("0.05")), (None, Decimal("0.02")))


@pytest.mark.parametrize(
    ("base", "fee", "working"),
    [
        (0, 0, "0"),
        (Fraction(1, 3), Fraction(1, 30), "0.10 × 0.3333333333..."),
        (100, 10, "0.10 × 100"),
        (101, Fraction(1005, 100), "0.10 × 100 + 0.05 × 1"),
        (1000, 55, "0.10 × 100 + 0.05 × 900"),
        (2000, 75, "0.10 × 100 + 0.05 × 900 + 0.02 × 1000"),
    ],
)
def test_each_part_of_the_base_is_charged_at_the_rate_of_its_band(
    base: Fraction | int, fee: Fraction | int, working: str
) -> None:
    worked = apply_bands(BANDS, to_exact(base))

    assert worked.amount == to_exact(fee)
    assert worked.working == working


def test_a_single_band_without_limit_is_a_flat_rate() -> None:
    assert apply_bands([(None, Decimal("0.5"))], to_exact(7)).amount == Fraction(7, 2)
