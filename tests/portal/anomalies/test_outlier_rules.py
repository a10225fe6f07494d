"""Which days are unusual: modified z-score over 30 days, and a minimum difference."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from statistics import median as median_of

import pytest

from nimbill.foundation.currency import Currency
from nimbill.portal.anomalies import outlier_rules
from nimbill.portal.anomalies.outlier_rules import Outlier, find_median, find_outliers

FIRST = date(2026, 9, 1)


def find(
    before: Sequence[int | str], value: int | str, currency: Currency = Currency.jpy
) -> list[Outlier]:
    """Compare 1 September with the days before it."""
    amounts = {
        FIRST - timedelta(days=number): Decimal(amount)
        for number, amount in enumerate(reversed(before), start=1)
    }
    return list(find_outliers({**amounts, FIRST: Decimal(value)}, currency, FIRST))


def test_an_unusual_day_has_its_figures() -> None:
    # the median is 10,000, the deviations are 0 and 1,000, and their median is 1,000
    before = [9000, 10_000, 11_000] * 10

    assert find(before, 16_000) == [
        Outlier(FIRST, Decimal(16_000), Decimal(10_000), Decimal(1000), Decimal("4.05"))
    ]
    (low,) = find(before, 4000)
    assert low.score == Decimal("-4.05")


@pytest.mark.parametrize(("value", "is_unusual"), [(15_189, False), (15_190, True)])
def test_the_score_must_exceed_three_and_a_half(value: int, is_unusual: bool) -> None:
    # 0.6745 × 5,189 / 1,000 = 3.49998
    assert bool(find([9000, 10_000, 11_000] * 10, value)) is is_unusual


@pytest.mark.parametrize(
    ("currency", "value", "is_unusual"),
    [
        (Currency.jpy, 1099, False),
        (Currency.jpy, 1100, True),
        (Currency.usd, "109.99", False),
        (Currency.usd, 110, True),
    ],
)
def test_a_small_difference_does_not_count(
    currency: Currency, value: int | str, is_unusual: bool
) -> None:
    assert bool(find([99, 100, 101] * 10, value, currency)) is is_unusual


def test_fewer_than_fourteen_days_are_not_enough() -> None:
    assert find([10] * 13, 100_000) == []
    assert len(find([10] * 14, 100_000)) == 1


def test_constant_usage_has_a_hundredth_of_the_median_as_its_measure() -> None:
    # 0.6745 × 5,189 / 1,000 = 3.49998
    assert find([100_000] * 30, 105_189) == []
    (outlier,) = find([100_000] * 30, 105_190)
    assert (outlier.mad, outlier.score) == (Decimal(0), Decimal("3.50"))


def test_without_usual_usage_the_minimum_difference_is_the_measure() -> None:
    assert find([0] * 30, 5189) == []
    assert len(find([0] * 30, 5190)) == 1


def test_days_more_than_thirty_days_ago_do_not_count() -> None:
    thirty_days_ago = [10_000] * 30

    assert find([90_000, *thirty_days_ago], 20_000) == find(thirty_days_ago, 20_000)
    # fifteen days, of which fourteen are recent enough
    assert find([10_000, *[10_000] * 13], 90_000) != []
    gap = {FIRST - timedelta(days=31 + number): Decimal(1) for number in range(20)}
    assert list(find_outliers({**gap, FIRST: Decimal(90_000)}, Currency.jpy, FIRST)) == []


def test_only_days_from_the_first_on_are_reported() -> None:
    amounts = {FIRST + timedelta(days=number): Decimal(100) for number in range(-20, 10)}
    before, after = FIRST - timedelta(days=2), FIRST + timedelta(days=2)
    amounts |= {before: Decimal(9000), after: Decimal(9000)}

    assert [each.day for each in find_outliers(amounts, Currency.jpy, FIRST)] == [after]


@pytest.mark.parametrize("values", [[1], [1, 2], [3, 1, 2], [1, 2, 2, 9], [5, 5, 5, 7, 9, 11]])
def test_the_median_equals_that_of_the_standard_library(values: list[int]) -> None:
    decimals = sorted(Decimal(value) for value in values)

    assert find_median(decimals) == median_of(decimals)


def test_days_that_are_certainly_usual_are_left_out_without_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The quick check of usual days never changes what is found."""
    random = Random(20260115)
    all_series = [
        {
            FIRST + timedelta(days=day - 40): Decimal(random.choice(amounts)) * scale / 7
            for day in range(70)
        }
        for amounts in ([1, 2, 3], [5, 5, 5, 90], [1, 10, 100, 1000], range(-50, 50), [0, 0, 8])
        for scale in (1000, 12_345)
        for _ in range(5)
    ]

    quick = [list(find_outliers(series, Currency.jpy, FIRST)) for series in all_series]
    monkeypatch.setattr(outlier_rules, "_is_common", lambda *_: False)
    complete = [list(find_outliers(series, Currency.jpy, FIRST)) for series in all_series]

    assert quick == complete
    assert sum(len(found) for found in complete) > 20
