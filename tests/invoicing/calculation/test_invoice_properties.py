"""Properties of any invoice: sums, rounding, and independence of the input order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from nimbill.foundation.currency import Currency
from nimbill.foundation.money import CURRENCY_UNITS, round_amount, to_exact
from nimbill.invoicing.calculation.charges import MonthlyCharges
from nimbill.invoicing.calculation.sheet import (
    RULES,
    Explanation,
    InvoiceSheet,
    UsageLine,
    calculate_invoice,
)
from tests.invoicing.random_invoices import InvoiceCase, random_case

CASES = st.randoms(use_true_random=False).map(random_case)
SHARES = st.sampled_from([Decimal(share) for share in ("0", "0.01", "0.05", "0.3333", "0.5", "1")])


def calculate(case: InvoiceCase) -> InvoiceSheet:
    return calculate_invoice(case.charges, case.terms())


@given(CASES)
def test_printed_amounts_add_up_to_the_totals(case: InvoiceCase) -> None:
    sheet = calculate(case)
    fees = [fee.after for fee in (sheet.support, sheet.agency) if fee]

    assert sheet.usage_charge == sum(line.charge for line in sheet.lines)
    assert sheet.usage_after == sum(line.after for line in sheet.lines)
    assert sheet.pre_tax == sheet.usage_after + sum(fees) + sum(
        entry.amount for entry in sheet.entries
    ) + sum(item.total for item in sheet.items)
    assert sheet.tax_free == sum(entry.amount for entry in sheet.entries if entry.tax_free)
    assert sheet.taxable == sheet.pre_tax - sheet.tax_free
    assert sheet.total == sheet.pre_tax + sheet.tax


@given(CASES)
def test_printed_amounts_are_in_whole_yen_or_cents(case: InvoiceCase) -> None:
    sheet = calculate(case)

    for amount in list_printed_amounts(sheet):
        assert amount == amount.quantize(CURRENCY_UNITS[sheet.currency]), amount
    for amount in (sheet.pre_tax_usd, *(account.total for account in sheet.accounts)):
        assert amount == amount.quantize(Decimal("0.01")), amount


def list_printed_amounts(sheet: InvoiceSheet) -> Iterator[Decimal]:
    for line in sheet.lines:
        yield from (line.charge, line.after)
    for fee in (sheet.support, sheet.agency):
        if fee:
            yield from (fee.charge, fee.after)
    yield from (entry.amount for entry in sheet.entries)
    yield from (item.total for item in sheet.items)
    yield from (account.total_exchanged for account in sheet.accounts)
    yield from (sheet.pre_tax, sheet.tax_free, sheet.taxable, sheet.tax, sheet.total)


@given(CASES, st.randoms(use_true_random=False))
def test_the_input_order_does_not_matter(case: InvoiceCase, random: Random) -> None:
    usage, entries = list(case.charges.usage), list(case.charges.entries)
    random.shuffle(usage)
    random.shuffle(entries)
    shuffled = replace(case.charges, usage=tuple(usage), entries=tuple(entries))

    assert calculate_invoice(shuffled, case.terms()) == calculate(case)


@given(CASES)
def test_splitting_charges_does_not_change_printed_amounts(case: InvoiceCase) -> None:
    third = Decimal("0.3333333")
    halves = tuple(
        replace(charge, amount=part)
        for charge in case.charges.usage
        for part in (third, charge.amount - third)
    )

    sheet = calculate_invoice(replace(case.charges, usage=halves), case.terms())

    assert list(list_printed_amounts(sheet)) == list(list_printed_amounts(calculate(case)))


def service_key(line: UsageLine) -> tuple[str, bool]:
    """Sort cloud services before marketplace services."""
    return line.service, line.marketplace


@given(CASES)
def test_lines_are_in_page_order(case: InvoiceCase) -> None:
    lines = calculate(case).lines
    places = [
        ((line.tag or line.customer_id) == "", line.tag, line.customer_id, *service_key(line))
        for line in lines
    ]

    assert places == sorted(set(places))


@given(CASES)
def test_accounts_add_up_to_usage_and_entries(case: InvoiceCase) -> None:
    sheet = calculate(case)
    ids = [account.customer_id for account in sheet.accounts]
    whole = sheet.usage_after + sum(entry.amount for entry in sheet.entries)
    found = sum(account.total_exchanged for account in sheet.accounts)

    assert ids == sorted(set(ids))
    if case.terms().calc_type == "account":
        assert found == whole
    else:  # rounded once per account instead of once per line
        rounded_apart = len(ids) + len(sheet.lines) + len(sheet.entries)
        assert abs(found - whole) <= rounded_apart


def remove_credits(month: MonthlyCharges) -> MonthlyCharges:
    return replace(
        month,
        usage=tuple(replace(charge, amount=abs(charge.amount)) for charge in month.usage),
        entries=tuple(replace(entry, amount=abs(entry.amount)) for entry in month.entries),
        items=tuple(replace(item, total=abs(item.total)) for item in month.items),
    )


@given(CASES, SHARES, SHARES)
def test_a_higher_discount_never_increases_the_total(
    case: InvoiceCase, one: Decimal, other: Decimal
) -> None:
    month, terms = remove_credits(case.charges), case.terms()
    less, more = sorted([one, other])

    assert (
        calculate_invoice(month, replace(terms, discount_rate=more)).total
        <= calculate_invoice(month, replace(terms, discount_rate=less)).total
    )


@given(
    CASES,
    SHARES,
    SHARES,
    st.sampled_from(["support_rate", "substitution_rate", "tax_rate", "support_fix"]),
)
def test_a_higher_rate_never_decreases_the_total(
    case: InvoiceCase, one: Decimal, other: Decimal, rate: str
) -> None:
    month, terms = remove_credits(case.charges), case.terms()
    less, more = sorted([one, other])

    assert (
        calculate_invoice(month, replace(terms, **{rate: less})).total
        <= calculate_invoice(month, replace(terms, **{rate: more})).total
    )


def list_explanations(sheet: InvoiceSheet) -> Iterator[tuple[Explanation, Decimal]]:
    """Each explanation with the amount that it explains."""
    yield from ((line.why, line.after) for line in sheet.lines)
    yield from ((fee.why, fee.after) for fee in (sheet.support, sheet.agency) if fee)
    yield from ((entry.why, entry.amount) for entry in sheet.entries)
    yield from ((item.why, item.total) for item in sheet.items)
    for why, amount in (
        (sheet.pre_tax_why, sheet.pre_tax),
        (sheet.tax_why, sheet.tax),
        (sheet.total_why, sheet.total),
    ):
        assert why is not None
        yield why, amount


def evaluate_formula(formula: str) -> Fraction:
    """Evaluate the formula of an explanation."""
    exactly = re.sub(r"[0-9]+(\.[0-9]+)?", r'exactly("\g<0>")', formula).replace("×", "*")
    return Fraction(eval(exactly, {"exactly": Fraction, "max": max}))


@given(CASES)
def test_the_formula_of_each_explanation_gives_the_printed_amount(case: InvoiceCase) -> None:
    sheet, terms = calculate(case), case.terms()

    for why, amount in list_explanations(sheet):
        formula, _, result = why.working.partition(" = ")
        assert why.rule in RULES
        assert why.working.isascii() or why.working.replace("×", "").isascii()
        if result:
            assert Decimal(result.split()[-1]) == amount
        if "..." not in formula:
            assert (
                round_amount(to_exact(evaluate_formula(formula)), sheet.currency, terms.rounding)
                == amount
            )


@given(CASES)
def test_sources_name_the_input_charges(case: InvoiceCase) -> None:
    sheet = calculate(case)
    usage = {
        f"{charge.customer_id} {charge.service}{' marketplace' if charge.marketplace else ''}"
        for charge in case.charges.usage
    }
    entries = {entry.entry_id for entry in case.charges.entries}
    items = {f"free format {number}" for number in range(1, len(case.charges.items) + 1)}

    for why, _ in list_explanations(sheet):
        assert set(why.sources) <= usage | entries | items | {"support fee"}
    assert {source for line in sheet.lines for source in line.why.sources} == usage
    assert [entry.why.sources for entry in sheet.entries] == [
        (entry.entry_id,) for entry in sheet.entries
    ]


@given(CASES)
def test_the_base_of_an_explanation_has_its_currency(case: InvoiceCase) -> None:
    sheet = calculate(case)

    for line in sheet.lines:
        assert line.why.base_currency is case.charges.cost_currency
        assert line.why.base is not None
        assert abs(line.why.base - line.cost) < Decimal("1e-10")
    for fee in (sheet.support, sheet.agency):
        if fee:
            assert (fee.why.base is None) == fee.why.rule.endswith("_fix")
            assert fee.why.base_currency in (None, *Currency)
