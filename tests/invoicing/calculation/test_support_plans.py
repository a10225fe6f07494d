"""The vendor's price lists are dated: a later one holds from its month on."""

from __future__ import annotations

from decimal import Decimal

import pytest

from nimbill.invoicing.calculation import support_plans
from nimbill.invoicing.calculation.support_plans import PRICE_LISTS, SupportPlan, find_support_plan

LATER = SupportPlan(Decimal(1), ((None, Decimal("0.5")),))


def test_a_later_list_holds_from_its_month_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = PRICE_LISTS[0][1]["aws_business"]
    later = (*PRICE_LISTS, ("2027-04", {"aws_business": LATER}))
    monkeypatch.setattr(support_plans, "PRICE_LISTS", later)

    found = {month: find_support_plan("aws_business", month) for month in ("2000-01", "2027-03")}

    assert set(found.values()) == {first}
    assert find_support_plan("aws_business", "2027-04") == LATER
    assert find_support_plan("aws_business", "2031-01") == LATER


def test_lists_stand_in_the_order_of_their_months_and_the_first_has_always_been() -> None:
    firsts = [first for first, _ in PRICE_LISTS]

    assert firsts == sorted(set(firsts))
    assert find_support_plan("aws_developer", "0001-01").minimum == 29


@pytest.mark.parametrize("plans", [plans for _, plans in PRICE_LISTS])
def test_bands_rise_and_end_in_an_open_one(plans: dict[str, SupportPlan]) -> None:
    for plan in plans.values():
        *ends, last = [upto for upto, _ in plan.bands]
        assert last is None
        assert ends == sorted(end for end in ends if end is not None)
