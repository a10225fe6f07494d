"""The support fee and the agency fee: their bases and the formulas of each kind of fee."""

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
    """An exact amount with the formula that explains it."""

    amount: ExactAmount
    working: str


class FeeTerms(NamedTuple):
    """The terms that a fee formula reads; `currency` is that of the costs and of the base."""

    kind: str
    fixed: Decimal
    rate: Decimal
    terms: Terms
    currency: Currency


class ExactFee(NamedTuple):
    """A fee in the currency of the costs, before conversion and rounding."""

    kind: str
    charge: ExactAmount
    after: ExactAmount
    discounted: bool
    base: ExactAmount | None  # None if the fee does not depend on a base
    working: str
    sources: tuple[str, ...]


# ── fee formulas ──────────────────────────────────────────────────────────────────────────────────


def _percent_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    return CalculatedAmount(to_exact(fee.rate) * base, f"{fee.rate:f} × {format_amount(base)}")


def _fixed_fee(fee: FeeTerms, _base: ExactAmount) -> CalculatedAmount:
    return CalculatedAmount(to_exact(fee.fixed), f"{fee.fixed:f}")


def _automatic_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    return _larger(_percent_fee(fee, base), _fixed_fee(fee, base))


def _usage_table_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    return apply_bands(fee.terms.usage_table, base)


def _support_plan_fee(fee: FeeTerms, base: ExactAmount) -> CalculatedAmount:
    """The vendor's support fee. Plans are in dollars, so a base in yen is converted and back."""
    rate = to_exact(fee.terms.exchange_rate)
    plan = find_support_plan(fee.kind, fee.terms.month)
    base_usd = convert_currency(base, fee.currency, Currency.usd, rate)
    minimum = CalculatedAmount(to_exact(plan.minimum), f"{plan.minimum:f}")
    fee_usd = _larger(minimum, apply_bands(plan.bands, base_usd))
    if fee.currency is Currency.usd:
        return fee_usd
    amount = convert_currency(fee_usd.amount, Currency.usd, fee.currency, rate)
    return CalculatedAmount(amount, f"{fee_usd.working} × {fee.terms.exchange_rate:f}")


FEE_FORMULAS: Mapping[str, Callable[[FeeTerms, ExactAmount], CalculatedAmount]] = {
    "percent": _percent_fee,
    "fix": _fixed_fee,
    "automatic": _automatic_fee,
    "usagetable": _usage_table_fee,
    "aws_developer": _support_plan_fee,
    "aws_business": _support_plan_fee,
    "aws_enterprise": _support_plan_fee,
}


def _larger(first: CalculatedAmount, second: CalculatedAmount) -> CalculatedAmount:
    return CalculatedAmount(
        max(first.amount, second.amount), f"max({first.working}, {second.working})"
    )


def apply_bands(bands: Iterable[RateBand], base: ExactAmount) -> CalculatedAmount:
    """Charge each part of the base at the rate of its band."""
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


# ── the two fees of an invoice ────────────────────────────────────────────────────────────────────


def calculate_support_fee(
    usage: Sequence[ExactUsage], charges: MonthlyCharges, terms: Terms
) -> ExactFee | None:
    """None without usage. With a discounted base, the discount applies twice, intentionally."""
    if not usage:
        return None
    lines = select_support_lines(usage, terms)
    fee_entries = [entry for entry in charges.entries if counts_for_support(entry, terms)]

    usage_base = _sum_usage(lines, terms.support_basis, terms)
    entry_base = sum_exact(
        entry.convert(charges.cost_currency, terms.exchange_rate) for entry in fee_entries
    )
    return _calculate_fee(
        FeeTerms(
            kind=terms.support_fee,
            fixed=terms.support_fix,
            rate=terms.support_rate,
            terms=terms,
            currency=charges.cost_currency,
        ),
        bases=[usage_base + entry_base],
        discounted=terms.discount_target_usage == "cloudpaywithfee",
        sources=(*_list_sources(lines), *sorted(entry.entry_id for entry in fee_entries)),
    )


def calculate_agency_fee(
    usage: Sequence[ExactUsage], support: ExactFee | None, charges: MonthlyCharges, terms: Terms
) -> ExactFee | None:
    """One fee on the total, or the sum of one fee for each account or tag.

    Each account has its share of the support fee in its base. Without usage there is no fee, but a
    missing usage table is refused even then.
    """
    if terms.substitution_fee == "usagetable" and not terms.usage_table:
        raise CannotBeBilled("usage_table_missing")
    if support is None:
        return None
    support_base = find_support_in_agency_base(support, terms)
    owners = _group_by_owner(usage) if terms.substitution_fee_calc_type == "account" else [usage]
    return _calculate_fee(
        FeeTerms(
            kind=terms.substitution_fee,
            fixed=terms.substitution_fix,
            rate=terms.substitution_rate,
            terms=terms,
            currency=charges.cost_currency,
        ),
        bases=[
            _sum_usage(lines, terms.substitution_basis, terms) + (support_base or ZERO) * share
            for lines, share in zip(owners, _usage_shares(owners), strict=True)
        ],
        discounted=terms.discount_calc_logic == "allamount",
        sources=(*_list_sources(usage), *([] if support_base is None else ["support fee"])),
    )


def _calculate_fee(
    fee: FeeTerms, *, bases: Sequence[ExactAmount], discounted: bool, sources: tuple[str, ...]
) -> ExactFee:
    """Sum up one fee for each base; a negative base counts as zero."""
    bases = [max(base, ZERO) for base in bases]
    amounts = [FEE_FORMULAS[fee.kind](fee, base) for base in bases]
    charge = sum_exact(calculated.amount for calculated in amounts)
    net_share = ONE - to_exact(fee.terms.discount_rate) if discounted else ONE
    needs_base = fee.kind != "fix"
    return ExactFee(
        kind=fee.kind,
        charge=charge,
        after=charge * net_share,
        discounted=discounted,
        base=sum_exact(bases) if needs_base else None,
        working=" + ".join(calculated.working for calculated in amounts),
        sources=sources if needs_base else (),
    )


def select_support_lines(usage: Iterable[ExactUsage], terms: Terms) -> list[ExactUsage]:
    """The usage in the base of the support fee."""
    includes_marketplace = terms.support_amount_target == "allusage"
    return [line for line in usage if includes_marketplace or not line.marketplace]


def find_support_in_agency_base(support: ExactFee, terms: Terms) -> ExactAmount | None:
    """The support fee in the base of the agency fee; None if it does not count."""
    if terms.substitution_scope != "cloudpaywithfee":
        return None
    return support.after if terms.substitution_basis == "discounted" else support.charge


def counts_for_support(entry: AppliedEntry, terms: Terms) -> bool:
    included_by_target = (
        terms.support_amount_target == "cloudpayonlywithfee"
        and terms.support_scope != "cloudpayonly"
    )
    return entry.calc_type == "Fee" and (
        included_by_target or terms.support_scope == "cloudpaywithfee"
    )


def _sum_usage(lines: Iterable[ExactUsage], basis: str, terms: Terms) -> ExactAmount:
    """The sum of the usage, before or after discount."""
    charge = total_charge(lines)
    return charge * (ONE - to_exact(terms.discount_rate)) if basis == "discounted" else charge


def _group_by_owner(usage: Sequence[ExactUsage]) -> list[list[ExactUsage]]:
    return [list(lines) for _, lines in groupby(usage, key=lambda line: line.owner)]


def _usage_shares(owners: Sequence[Sequence[ExactUsage]]) -> list[ExactAmount]:
    """Shares in proportion to usage before discount; equal shares if it adds up to zero."""
    if len(owners) == 1:
        return [ONE]
    amounts = [total_charge(lines) for lines in owners]
    total = sum_exact(amounts)
    return [amount / total if total else to_exact(Fraction(1, len(owners))) for amount in amounts]


def _list_sources(lines: Iterable[ExactUsage]) -> list[str]:
    return list(dict.fromkeys(source for line in lines for source in line.sources))
