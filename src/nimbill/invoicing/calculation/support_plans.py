"""The vendor's support plans and their price steps, each table valid from a month on."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from nimbill.foundation.basis import chosen
from nimbill.invoicing.calculation.terms import RateBand

basis = chosen("invoice-arithmetic")


@dataclass(frozen=True, slots=True)
class SupportPlan:
    """In USD: at least the minimum, else each part of the amount at the rate of its band."""

    minimum: Decimal
    bands: tuple[RateBand, ...]


def _plan(minimum: str, *bands: tuple[str | None, str]) -> SupportPlan:
    """The numbers are given as text so that they stay exact."""
    return SupportPlan(
        Decimal(minimum),
        tuple((None if upto is None else Decimal(upto), Decimal(rate)) for upto, rate in bands),
    )


# Oldest first; a new price list is a further row with its first month.
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


def find_support_plan(word: str, month: str) -> SupportPlan:
    """As the newest list says that is valid in the month (yyyy-mm)."""
    valid = [plans for first, plans in PRICE_LISTS if first <= month]
    return valid[-1][word]
