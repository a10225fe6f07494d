"""The support fee and the agency fee: what each is taken of, and one row for each kind of fee."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import (
    ONE,
    ZERO,
    ExactAmount,
    convert_currency,
    format_amount,
    sum_exact,
    to_exact,
)
from nimbill.invoicing.calculation.charges import AppliedEntry, MonthlyCharges
from nimbill.invoicing.calculation.support_plans import find_support_plan
from nimbill.invoicing.calculation.terms import CannotBeBilled, RateBand, Terms
from nimbill.invoicing.calculation.usage import ExactUsage, total_charge

basis = chosen("invoice-arithmetic")


class CalculatedAmount(NamedTuple):
    """An exact amount, and how it was worked out for whoever asks."""

    amount: ExactAmount
    working: str


class FeeTerms(NamedTuple):
    """What of the terms a kind of fee reads; a base is in the cost's currency."""

    kind: str
    fixed: Decimal
    rate: Decimal
    terms: Terms
    currency: Currency


class ExactFee(NamedTuple):
    """In the cost's currency, not yet printed."""

    kind: str
    charge: ExactAmount
    after: ExactAmount
    discounted: bool
    base: ExactAmount | None  # None where the fee does not depend on one
    working: str
    sources: tuple[str, ...]


# ── kinds of fee ─────────────────────────────────────────────────────────────────────────────────


def _percent_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    return CalculatedAmount(to_exact(fee.rate) * base, f"{fee.rate:f} × {format_amount(base)}")


def _fixed_fee(fee: FeeTerms, _base: ExactAmount) -> CalculatedAmount:
    return CalculatedAmount(to_exact(fee.fixed), f"{fee.fixed:f}")


def _automatic_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    return _larger(_percent_fee(fee, base), _fixed_fee(fee, base))


def _usage_table_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    return apply_bands(fee.terms.usage_table, base)


def _support_plan_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    """The vendor's own support fee. Plans are in dollars: a base in yen goes there and back."""
    rate = to_exact(fee.terms.exchange_rate)
    price = find_support_plan(fee.kind, fee.terms.month)
    in_dollars = convert_currency(base, fee.currency, Currency.usd, rate)
    least = CalculatedAmount(to_exact(price.minimum), f"{price.minimum:f}")
    worked = _larger(least, apply_bands(price.bands, in_dollars))
    if fee.currency is Currency.usd:
        return worked
    there_and_back = convert_currency(worked.amount, Currency.usd, fee.currency, rate)
    return CalculatedAmount(there_and_back, f"{worked.working} × {fee.terms.exchange_rate:f}")


FEE_FORMULAS: Mapping[str, Callable[[FeeTerms, ExactAmount], CalculatedAmount]] = {
    "percent": _percent_fee,
    "fix": _fixed_fee,
    "automatic": _automatic_fee,
    "usagetable": _usage_table_fee,
    "aws_developer": _support_plan_fee,
    "aws_business": _support_plan_fee,
    "aws_enterprise": _support_plan_fee,
}


def _larger(one: CalculatedAmount, other: CalculatedAmount) -> CalculatedAmount:
    return CalculatedAmount(max(one.amount, other.amount), f"max({one.working}, {other.working})")


def apply_bands(bands: Iterable[RateBand], base: ExactAmount) -> CalculatedAmount:
    """Each part of the base at the rate of the band that it lies in."""
    amount, start, parts = ZERO, ZERO, []
    for upto, rate in bands:
        if not start < base:
            break
        end = base if upto is None else min(base, to_exact(upto))
        part = end - start
        amount += to_exact(rate) * part
        parts.append(f"{rate:f} × {format_amount(part)}")
        start = end
    return CalculatedAmount(amount, " + ".join(parts) or "0")


# ── the two fees of an invoice ───────────────────────────────────────────────────────────────────


def calculate_support_fee(
    usage: Sequence[ExactUsage], month: MonthlyCharges, terms: Terms
) -> ExactFee | None:
    """No usage line, no fee. A base already discounted may be discounted twice: that is meant."""
    if not usage:
        return None
    everything = terms.support_amount_target == "allusage"
    lines = [line for line in usage if everything or not line.marketplace]
    fees = [entry for entry in month.entries if _counts_for_support(entry, terms)]

    of_usage = _sum_usage(lines, terms.support_basis, terms)
    of_fees = sum_exact(entry.convert(month.cost_currency, terms.exchange_rate) for entry in fees)
    return _calculate_fee(
        FeeTerms(
            kind=terms.support_fee,
            fixed=terms.support_fix,
            rate=terms.support_rate,
            terms=terms,
            currency=month.cost_currency,
        ),
        bases=[of_usage + of_fees],
        discounted=terms.discount_target_usage == "cloudpaywithfee",
        sources=(*_list_sources(lines), *sorted(entry.entry_id for entry in fees)),
    )


def calculate_agency_fee(
    usage: Sequence[ExactUsage], support: ExactFee | None, month: MonthlyCharges, terms: Terms
) -> ExactFee | None:
    """On the sum, or on each account (tag) with its share of the support fee; printed once.

    Without a usage line there is neither fee; a table that is missing is missed even then.
    """
    if terms.substitution_fee == "usagetable" and not terms.usage_table:
        raise CannotBeBilled("usage_table_missing")
    if support is None:
        return None
    with_fee = terms.substitution_scope == "cloudpaywithfee"
    added = ZERO
    if with_fee:
        added = support.after if terms.substitution_basis == "discounted" else support.charge
    owners = _group_by_owner(usage) if terms.substitution_fee_calc_type == "account" else [usage]
    return _calculate_fee(
        FeeTerms(
            kind=terms.substitution_fee,
            fixed=terms.substitution_fix,
            rate=terms.substitution_rate,
            terms=terms,
            currency=month.cost_currency,
        ),
        bases=[
            _sum_usage(lines, terms.substitution_basis, terms) + added * share
            for lines, share in zip(owners, _usage_shares(owners), strict=True)
        ],
        discounted=terms.discount_calc_logic == "allamount",
        sources=(*_list_sources(usage), *(["support fee"] if with_fee else [])),
    )


def _calculate_fee(
    fee: FeeTerms, *, bases: Sequence[ExactAmount], discounted: bool, sources: tuple[str, ...]
) -> ExactFee:
    """One fee for each base, added exactly; a base below zero counts as zero."""
    bases = [max(base, ZERO) for base in bases]
    worked = [FEE_FORMULAS[fee.kind](fee, base) for base in bases]
    charge = sum_exact(one.amount for one in worked)
    kept = ONE - to_exact(fee.terms.discount_rate) if discounted else ONE
    needs_base = fee.kind != "fix"
    return ExactFee(
        kind=fee.kind,
        charge=charge,
        after=charge * kept,
        discounted=discounted,
        base=sum_exact(bases) if needs_base else None,
        working=" + ".join(one.working for one in worked),
        sources=sources if needs_base else (),
    )


def _counts_for_support(entry: AppliedEntry, terms: Terms) -> bool:
    targeted = (
        terms.support_amount_target == "cloudpayonlywithfee"
        and terms.support_scope != "cloudpayonly"
    )
    return entry.calc_type == "Fee" and (targeted or terms.support_scope == "cloudpaywithfee")


def _sum_usage(lines: Iterable[ExactUsage], stage: str, terms: Terms) -> ExactAmount:
    """Together, before or after discount."""
    charge = total_charge(lines)
    return charge * (ONE - to_exact(terms.discount_rate)) if stage == "discounted" else charge


def _group_by_owner(usage: Sequence[ExactUsage]) -> list[list[ExactUsage]]:
    return [list(lines) for _, lines in groupby(usage, key=lambda line: line.owner)]


def _usage_shares(owners: Sequence[Sequence[ExactUsage]]) -> list[ExactAmount]:
    """In proportion to usage before discount; equal where that sums to nothing."""
    if len(owners) == 1:
        return [ONE]
    amounts = [total_charge(lines) for lines in owners]
    whole = sum_exact(amounts)
    return [amount / whole if whole else to_exact(Fraction(1, len(owners))) for amount in amounts]


def _list_sources(lines: Iterable[ExactUsage]) -> list[str]:
    return list(dict.fromkeys(source for line in lines for source in line.sources))
