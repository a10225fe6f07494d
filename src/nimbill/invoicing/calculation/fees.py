"""The support fee and the agency fee: what each is taken of, and one row for each kind of fee."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from nimbill.foundation.basis import chosen
from nimbill.foundation.money import ONE, ZERO, Exact, exact, exchanged, readable, sum_of
from nimbill.foundation.vocabulary import Currency
from nimbill.invoicing.calculation.charges import AppliedEntry, MonthlyCharges
from nimbill.invoicing.calculation.support_plans import support_plan
from nimbill.invoicing.calculation.terms import Band, CannotBeBilled, Terms
from nimbill.invoicing.calculation.usage import Usage, charged

basis = chosen("invoice-arithmetic")


class Worked(NamedTuple):
    """An exact amount, and how it was worked out for whoever asks."""

    amount: Exact
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
    charge: Exact
    after: Exact
    discounted: bool
    base: Exact | None  # None where the fee does not depend on one
    working: str
    sources: tuple[str, ...]


# ── kinds of fee ─────────────────────────────────────────────────────────────────────────────────


def percent(fee: FeeTerms, base: Exact) -> Worked:
    return Worked(exact(fee.rate) * base, f"{fee.rate:f} × {readable(base)}")


def fix(fee: FeeTerms, _base: Exact) -> Worked:
    return Worked(exact(fee.fixed), f"{fee.fixed:f}")


def automatic(fee: FeeTerms, base: Exact) -> Worked:
    return larger(percent(fee, base), fix(fee, base))


def usagetable(fee: FeeTerms, base: Exact) -> Worked:
    return by_bands(fee.terms.usage_table, base)


def plan(fee: FeeTerms, base: Exact) -> Worked:
    """The vendor's own support fee. Plans are in dollars: a base in yen goes there and back."""
    rate = exact(fee.terms.exchange_rate)
    price = support_plan(fee.kind, fee.terms.month)
    in_dollars = exchanged(base, fee.currency, Currency.usd, rate)
    least = Worked(exact(price.minimum), f"{price.minimum:f}")
    worked = larger(least, by_bands(price.bands, in_dollars))
    if fee.currency is Currency.usd:
        return worked
    there_and_back = exchanged(worked.amount, Currency.usd, fee.currency, rate)
    return Worked(there_and_back, f"{worked.working} × {fee.terms.exchange_rate:f}")


FEES: Mapping[str, Callable[[FeeTerms, Exact], Worked]] = {
    "percent": percent,
    "fix": fix,
    "automatic": automatic,
    "usagetable": usagetable,
    "aws_developer": plan,
    "aws_business": plan,
    "aws_enterprise": plan,
}


def larger(one: Worked, other: Worked) -> Worked:
    return Worked(max(one.amount, other.amount), f"max({one.working}, {other.working})")


def by_bands(bands: Iterable[Band], base: Exact) -> Worked:
    """Each part of the base at the rate of the band that it lies in."""
    amount, start, parts = ZERO, ZERO, []
    for upto, rate in bands:
        if not start < base:
            break
        end = base if upto is None else min(base, exact(upto))
        part = end - start
        amount += exact(rate) * part
        parts.append(f"{rate:f} × {readable(part)}")
        start = end
    return Worked(amount, " + ".join(parts) or "0")


# ── the two fees of an invoice ───────────────────────────────────────────────────────────────────


def support_fee(usage: Sequence[Usage], month: MonthlyCharges, terms: Terms) -> ExactFee | None:
    """No usage line, no fee. A base already discounted may be discounted twice: that is meant."""
    if not usage:
        return None
    everything = terms.support_amount_target == "allusage"
    lines = [line for line in usage if everything or not line.marketplace]
    fees = [entry for entry in month.entries if _counts_for_support(entry, terms)]

    of_usage = _usage(lines, terms.support_basis, terms)
    of_fees = sum_of(entry.worth(month.cost_currency, terms.exchange_rate) for entry in fees)
    return _fee(
        FeeTerms(
            kind=terms.support_fee,
            fixed=terms.support_fix,
            rate=terms.support_rate,
            terms=terms,
            currency=month.cost_currency,
        ),
        bases=[of_usage + of_fees],
        discounted=terms.discount_target_usage == "cloudpaywithfee",
        sources=(*_sources(lines), *sorted(entry.entry_id for entry in fees)),
    )


def agency_fee(
    usage: Sequence[Usage], support: ExactFee | None, month: MonthlyCharges, terms: Terms
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
    owners = _owners(usage) if terms.substitution_fee_calc_type == "account" else [usage]
    return _fee(
        FeeTerms(
            kind=terms.substitution_fee,
            fixed=terms.substitution_fix,
            rate=terms.substitution_rate,
            terms=terms,
            currency=month.cost_currency,
        ),
        bases=[
            _usage(lines, terms.substitution_basis, terms) + added * share
            for lines, share in zip(owners, _shares(owners), strict=True)
        ],
        discounted=terms.discount_calc_logic == "allamount",
        sources=(*_sources(usage), *(["support fee"] if with_fee else [])),
    )


def _fee(
    fee: FeeTerms, *, bases: Sequence[Exact], discounted: bool, sources: tuple[str, ...]
) -> ExactFee:
    """One fee for each base, added exactly; a base below zero counts as zero."""
    bases = [max(base, ZERO) for base in bases]
    worked = [FEES[fee.kind](fee, base) for base in bases]
    charge = sum_of(one.amount for one in worked)
    kept = ONE - exact(fee.terms.discount_rate) if discounted else ONE
    needs_base = fee.kind != "fix"
    return ExactFee(
        kind=fee.kind,
        charge=charge,
        after=charge * kept,
        discounted=discounted,
        base=sum_of(bases) if needs_base else None,
        working=" + ".join(one.working for one in worked),
        sources=sources if needs_base else (),
    )


def _counts_for_support(entry: AppliedEntry, terms: Terms) -> bool:
    targeted = (
        terms.support_amount_target == "cloudpayonlywithfee"
        and terms.support_scope != "cloudpayonly"
    )
    return entry.calc_type == "Fee" and (targeted or terms.support_scope == "cloudpaywithfee")


def _usage(lines: Iterable[Usage], stage: str, terms: Terms) -> Exact:
    """Together, before or after discount."""
    charge = charged(lines)
    return charge * (ONE - exact(terms.discount_rate)) if stage == "discounted" else charge


def _owners(usage: Sequence[Usage]) -> list[list[Usage]]:
    return [list(lines) for _, lines in groupby(usage, key=lambda line: line.owner)]


def _shares(owners: Sequence[Sequence[Usage]]) -> list[Exact]:
    """In proportion to usage before discount; equal where that sums to nothing."""
    if len(owners) == 1:
        return [ONE]
    amounts = [charged(lines) for lines in owners]
    whole = sum_of(amounts)
    return [amount / whole if whole else exact(Fraction(1, len(owners))) for amount in amounts]


def _sources(lines: Iterable[Usage]) -> list[str]:
    return list(dict.fromkeys(source for line in lines for source in line.sources))
