"""Measures the contenders of a suite in rounds and compares them within each round.

Each round starts with the next contender (A B C, B C A, …), so that other load on the machine
affects all contenders alike.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import NamedTuple

# Arguments: case and seconds; result: operations per second.
Measure = Callable[[str, float], float]


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    description: str
    measure: Measure


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of all contenders. A ratio is the rate of `baseline` divided by another rate."""

    name: str
    description: str
    unit: str
    cases: Sequence[str]
    baseline: str
    targets: Mapping[str, float]  # minimum ratio by contender
    slice_seconds: float
    contenders: Callable[[], AbstractContextManager[Sequence[Contender]]]
    with_lines: Callable[[int], "Suite"] | None = None  # the same suite with other input sizes
    extra_rows: Callable[[], Sequence[str]] | None = None  # further results after the run


class Spread(NamedTuple):
    """The median of several rounds and the limits of their middle half."""

    median: float
    low: float
    high: float


class ComparisonLine(NamedTuple):
    """The rate of a contender in a case, and the ratio of the baseline to it."""

    case: str
    contender: str
    rate: Spread
    ratio: Spread


def compute_spread(values: Sequence[float]) -> Spread:
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), low, high)


def format_spread(spread: Spread, number_format: str) -> str:
    median, low, high = (f"{value:{number_format}}" for value in spread)
    return f"{median} ({low}–{high})"


def run_suite(
    suite: Suite,
    contenders: Sequence[Contender],
    *,
    rounds: int,
    print_progress: Callable[[str], None],
) -> list[ComparisonLine]:
    lines = []
    for case in suite.cases:
        rates: dict[str, list[float]] = {contender.name: [] for contender in contenders}
        for number in range(rounds):
            print_progress(f"{suite.name}: {case}, round {number + 1} of {rounds}")
            for contender in rotate(contenders, number):
                rates[contender.name].append(contender.measure(case, suite.slice_seconds))
        lines += compare(case, rates, suite.baseline)
    return lines


def rotate(contenders: Sequence[Contender], number: int) -> Sequence[Contender]:
    first = number % len(contenders)
    return [*contenders[first:], *contenders[:first]]


def compare(case: str, rates: Mapping[str, Sequence[float]], baseline: str) -> list[ComparisonLine]:
    """A ratio is computed within each round, because the load of the machine changes over time."""
    return [
        ComparisonLine(
            case,
            name,
            compute_spread(values),
            compute_spread(
                [base / value for base, value in zip(rates[baseline], values, strict=True)]
            ),
        )
        for name, values in rates.items()
    ]
