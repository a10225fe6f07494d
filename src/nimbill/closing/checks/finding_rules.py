"""Which findings an invoice has, compared with the month before. Pure functions."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from nimbill.closing.checks.bodies import FindingCause, FindingCode
from nimbill.foundation.basis import chosen
from nimbill.foundation.currency import Currency
from nimbill.foundation.money import Rounding, convert_currency, round_amount, to_exact

basis = chosen("month-checks")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceFigures:
    """The figures of a stored invoice; amounts are in its currency."""

    currency: Currency
    cost_currency: Currency
    exchange_rate: Decimal
    amount: Decimal  # before tax
    vendor_cost: Decimal


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Shares: a change of more than 0.3 and a margin of less than 0 are findings."""

    change: Decimal
    margin: Decimal


Finding = tuple[FindingCode, FindingCause]


def find_findings(
    current: InvoiceFigures | None,
    before: InvoiceFigures | None,
    limits: CheckLimits,
    *,
    has_costs: bool,
) -> Iterator[Finding]:
    """Yield the findings of one billing group and vendor, in the order of the codes."""
    if current is None:
        if before is not None:
            cause = FindingCause.not_invoiced if has_costs else FindingCause.no_costs
            yield FindingCode.vanished_customer, cause
        return
    if before is not None and _is_change_above(current, before, limits.change):
        yield FindingCode.change_above_limit, find_change_cause(current, before)
    yield from _check_amount(current, limits.margin)
    if before is None:
        yield FindingCode.new_customer, FindingCause.no_invoice_before


def convert_amount_before(current: InvoiceFigures, before: InvoiceFigures) -> Decimal:
    """Last month's amount in the currency of this month, at last month's rate."""
    rate = to_exact(before.exchange_rate)
    amount = convert_currency(to_exact(before.amount), before.currency, current.currency, rate)
    return round_amount(amount, current.currency, Rounding.half_up)


def _is_change_above(current: InvoiceFigures, before: InvoiceFigures, limit: Decimal) -> bool:
    amount_before = Fraction(convert_amount_before(current, before))
    change = abs(Fraction(current.amount) - amount_before)
    return change > Fraction(limit) * abs(amount_before)


def _check_amount(current: InvoiceFigures, limit: Decimal) -> Iterator[Finding]:
    amount, cost = Fraction(current.amount), Fraction(current.vendor_cost)
    if amount < 0:
        yield FindingCode.negative, FindingCause.credits
    elif amount == 0:
        yield FindingCode.zero, FindingCause.credits if cost else FindingCause.no_costs
    elif amount - cost < Fraction(limit) * amount:
        cause = FindingCause.sold_below_cost if amount < cost else FindingCause.low_margin
        yield FindingCode.margin_below_limit, cause


def find_change_cause(current: InvoiceFigures, before: InvoiceFigures) -> FindingCause:
    """Return the factor that moved the amount most.

    An amount is the vendor's cost times the exchange rate times what the terms add or deduct. The
    factor that is farthest from 1 is the cause. Figures that are not positive have no factors.
    """
    figures = (current.amount, current.vendor_cost, before.amount, before.vendor_cost)
    if min(figures) <= 0 or current.cost_currency is not before.cost_currency:
        return FindingCause.usage
    factors = {
        FindingCause.usage: _cost(current) / _cost(before),
        FindingCause.exchange_rate: _rate(current) / _rate(before),
        FindingCause.terms: _markup(current) / _markup(before),
    }
    return max(factors, key=lambda cause: max(factors[cause], 1 / factors[cause]))


def _cost(figures: InvoiceFigures) -> Fraction:
    """The vendor's cost in the currency of the costs."""
    return Fraction(figures.vendor_cost) / _rate(figures)


def _rate(figures: InvoiceFigures) -> Fraction:
    """What one unit of the costs is in the currency of the invoice."""
    if figures.currency is figures.cost_currency:
        return Fraction(1)
    rate = Fraction(figures.exchange_rate)
    return rate if figures.currency is Currency.jpy else 1 / rate


def _markup(figures: InvoiceFigures) -> Fraction:
    return Fraction(figures.amount) / Fraction(figures.vendor_cost)
