"""The price lists of the vendor's support plans."""

from __future__ import annotations

from decimal import Decimal

import pytest

from nimbill.invoicing.calculation import support_plans
from nimbill.invoicing.calculation.support_plans import PRICE_LISTS, SupportPlan, find_support_plan

LATER = SupportPlan(Decimal(1), ((None, Decimal("0.5")),))


def test_a_later_price_list_is_valid_from_its_month_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = PRICE_LISTS[0][1]["aws_business"]
    later = (*PRICE_LISTS, ("2027-04", {"aws_business": LATER}))
    monkeypatch.setattr(support_plans, "PRICE_LISTS", later)

    found = {month: find_support_plan("aws_business", month) for month in ("2000-01", "2027-03")}

    assert set(found.values()) == {first}
    assert find_support_plan("aws_business", "2027-04") == LATER
    assert find_support_plan("aws_business", "2031-01") == LATER


def test_price_lists_are_sorted_and_the_first_has_no_start() -> None:
    firsts = [first for first, _ in PRICE_LISTS]

    assert firsts == sorted(set(firsts))
    assert find_support_plan("aws_developer", "0001-01").minimum == 29


@pytest.mark.parametrize("plans", [plans for _, plans in PRICE_LISTS])
def test_bands_are_sorted_and_the_last_has_no_limit(plans: dict[str, SupportPlan]) -> None:
    for plan in plans.values():
        *ends, last = [upto for upto, _ in plan.bands]
        assert last is None
        assert ends == sorted(end for end in ends if end is not None)
