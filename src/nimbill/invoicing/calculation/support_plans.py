"""The vendor's support plans; each price list is valid from a month on."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from nimbill.foundation.basis import chosen
from nimbill.invoicing.calculation.terms import RateBand

basis = chosen("invoice-arithmetic")


@dataclass(frozen=True, slots=True)
class SupportPlan:
    """Prices in USD: a minimum, and rates for each band of the amount."""

    minimum: Decimal
    bands: tuple[RateBand, ...]


def _plan(minimum: str, *bands: tuple[str | None, str]) -> SupportPlan:
    """The numbers are texts, so that they are exact."""
    return SupportPlan(
        Decimal(minimum),
        tuple((None if upto is None else Decimal(upto), Decimal(rate)) for upto, rate in bands),
    )


# the oldest first; a new price list is added with its first month
# fmt: off
PRICE_LISTS: tuple[tuple[str, Mapping[str, SupportPlan]], ...] = (
    ("0000-00", {
        "aws_developer":  _plan("29",    (None, "0.03")),
        "aws_business":   _plan("100",   ("10000", "0.10"), ("80000", "0.07"), ("250000", "0.05"),
                                         (None, "0.03")),
        "aws_enterprise": _plan("15000", ("150000", "0.10"), ("500000", "0.07"),
                                         ("1000000", "0.05"), (None, "0.03")),
    }),
)
# fmt: on


def find_support_plan(name: str, month: str) -> SupportPlan:
    """Find the plan in the newest price list valid in the month (yyyy-mm)."""
    valid = [plans for first, plans in PRICE_LISTS if first <= month]
    return valid[-1][name]
