"""What holds for any invoice: it foots, it is whole, and the order of what comes in is nothing."""

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
SHARES = st.sampled_from([Decimal(one) for one in ("0", "0.01", "0.05", "0.3333", "0.5", "1")])


def drawn(case: InvoiceCase) -> InvoiceSheet:
    return calculate_invoice(case.charges, case.terms())


@given(CASES)
def test_the_page_foots(case: InvoiceCase) -> None:
    sheet = drawn(case)
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
def test_what_is_printed_is_whole_yen_or_cents(case: InvoiceCase) -> None:
    sheet = drawn(case)

    for amount in printed_amounts(sheet):
        assert amount == amount.quantize(CURRENCY_UNITS[sheet.currency]), amount
    for amount in (sheet.pre_tax_usd, *(account.total for account in sheet.accounts)):
        assert amount == amount.quantize(Decimal("0.01")), amount


def printed_amounts(sheet: InvoiceSheet) -> Iterator[Decimal]:
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
def test_the_order_of_what_comes_in_never_matters(case: InvoiceCase, random: Random) -> None:
    usage, entries = list(case.charges.usage), list(case.charges.entries)
    random.shuffle(usage)
    random.shuffle(entries)
    shuffled = replace(case.charges, usage=tuple(usage), entries=tuple(entries))

    assert calculate_invoice(shuffled, case.terms()) == drawn(case)


@given(CASES)
def test_how_finely_the_vendors_sums_are_cut_never_matters(case: InvoiceCase) -> None:
    third = Decimal("0.3333333")
    halves = tuple(
        replace(charge, amount=part)
        for charge in case.charges.usage
        for part in (third, charge.amount - third)
    )

    sheet = calculate_invoice(replace(case.charges, usage=halves), case.terms())

    assert list(printed_amounts(sheet)) == list(printed_amounts(drawn(case)))


def service_of(line: UsageLine) -> tuple[str, bool]:
    """Cloud before marketplace."""
    return line.service, line.marketplace


@given(CASES)
def test_lines_stand_in_the_order_of_the_page(case: InvoiceCase) -> None:
    lines = drawn(case).lines
    places = [
        ((line.tag or line.customer_id) == "", line.tag, line.customer_id, *service_of(line))
        for line in lines
    ]

    assert places == sorted(set(places))


@given(CASES)
def test_accounts_add_up_to_usage_and_entries(case: InvoiceCase) -> None:
    sheet = drawn(case)
    ids = [account.customer_id for account in sheet.accounts]
    whole = sheet.usage_after + sum(entry.amount for entry in sheet.entries)
    found = sum(account.total_exchanged for account in sheet.accounts)

    assert ids == sorted(set(ids))
    if case.terms().calc_type == "account":
        assert found == whole
    else:  # rounded once per account instead of once per line
        rounded_apart = len(ids) + len(sheet.lines) + len(sheet.entries)
        assert abs(found - whole) <= rounded_apart


def without_credits(month: MonthlyCharges) -> MonthlyCharges:
    return replace(
        month,
        usage=tuple(replace(charge, amount=abs(charge.amount)) for charge in month.usage),
        entries=tuple(replace(entry, amount=abs(entry.amount)) for entry in month.entries),
        items=tuple(replace(item, total=abs(item.total)) for item in month.items),
    )


@given(CASES, SHARES, SHARES)
def test_more_discount_never_costs_more(case: InvoiceCase, one: Decimal, other: Decimal) -> None:
    month, terms = without_credits(case.charges), case.terms()
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
def test_a_higher_rate_never_costs_less(
    case: InvoiceCase, one: Decimal, other: Decimal, rate: str
) -> None:
    month, terms = without_credits(case.charges), case.terms()
    less, more = sorted([one, other])

    assert (
        calculate_invoice(month, replace(terms, **{rate: less})).total
        <= calculate_invoice(month, replace(terms, **{rate: more})).total
    )


def explained(sheet: InvoiceSheet) -> Iterator[tuple[Explanation, Decimal]]:
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


def worked_again(formula: str) -> Fraction:
    """The formula of a working, reckoned by whoever reads it."""
    exactly = re.sub(r"[0-9]+(\.[0-9]+)?", r'exactly("\g<0>")', formula).replace("×", "*")
    return Fraction(eval(exactly, {"exactly": Fraction, "max": max}))


@given(CASES)
def test_what_an_explanation_says_is_true(case: InvoiceCase) -> None:
    sheet, terms = drawn(case), case.terms()

    for why, amount in explained(sheet):
        formula, _, result = why.working.partition(" = ")
        assert why.rule in RULES
        assert why.working.isascii() or why.working.replace("×", "").isascii()
        if result:
            assert Decimal(result.split()[-1]) == amount
        if "..." not in formula:
            assert (
                round_amount(to_exact(worked_again(formula)), sheet.currency, terms.rounding)
                == amount
            )


@given(CASES)
def test_sources_name_what_came_in(case: InvoiceCase) -> None:
    sheet = drawn(case)
    usage = {
        f"{charge.customer_id} {charge.service}{' marketplace' if charge.marketplace else ''}"
        for charge in case.charges.usage
    }
    entries = {entry.entry_id for entry in case.charges.entries}
    items = {f"free format {number}" for number in range(1, len(case.charges.items) + 1)}

    for why, _ in explained(sheet):
        assert set(why.sources) <= usage | entries | items | {"support fee"}
    assert {source for line in sheet.lines for source in line.why.sources} == usage
    assert [entry.why.sources for entry in sheet.entries] == [
        (entry.entry_id,) for entry in sheet.entries
    ]


@given(CASES)
def test_a_base_is_in_the_currency_it_names(case: InvoiceCase) -> None:
    sheet = drawn(case)

    for line in sheet.lines:
        assert line.why.base_currency is case.charges.cost_currency
        assert line.why.base is not None
        assert abs(line.why.base - line.cost) < Decimal("1e-10")
    for fee in (sheet.support, sheet.agency):
        if fee:
            assert (fee.why.base is None) == fee.why.rule.endswith("_fix")
            assert fee.why.base_currency in (None, *Currency)
