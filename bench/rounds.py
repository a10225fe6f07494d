"""Measures the contenders of a suite in rounds and compares them within each round.

Each round starts with the next contender (A B C, B C A, …), so that other load on the machine
affects all contenders alike.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Literal, NamedTuple

import msgspec

FAILURE_LENGTH_MAX = 120

# Arguments: case and seconds; result: operations per second.
Measure = Callable[[str, float], float]

# "instead" is what a user would pick instead, "floor" the bare operation without any guarantee.
Role = Literal["instead", "floor", "variant"]


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    description: str
    measure: Measure
    cases: Collection[str] | None = None  # None: all cases of the suite


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of how figures grow: for each contender its points."""

    name: str  # of the picture's file
    title: str
    x_label: str
    y_label: str
    points: dict[str, list[tuple[float, float]]]


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
    rounds: int


class SuiteRun(NamedTuple):
    lines: list[ComparisonLine]
    failures: list[str]  # contenders that could not be measured, with their case


class MeasurementFailed(Exception):
    """There is nothing to measure, as a server returned an error."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of all contenders. A ratio is the rate of `baseline` divided by another rate."""

    name: str
    description: str
    unit: str
    cases: Sequence[str]
    baseline: str
    roles: Mapping[str, Role]  # of the other contenders
    targets: Mapping[str, float]  # minimum ratio by contender
    slice_seconds: float
    contenders: Callable[[], AbstractContextManager[Sequence[Contender]]]
    rounds: int = 5
    minutes: float = 1.5  # for the rounds of all cases; every case has at least one round
    summary_case: str | None = None  # the case that the README shows
    case_descriptions: Mapping[str, str] = field(default_factory=dict)
    with_lines: Callable[[int], "Suite"] | None = None  # the same suite with other input sizes
    extra_rows: Callable[[], Sequence[str]] | None = None  # further results after the run
    curves: Callable[[Sequence[ComparisonLine]], Sequence[Curve]] | None = None


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
    seconds_max: float,
    print_progress: Callable[[str], None],
    clock: Callable[[], float] = time.perf_counter,
) -> SuiteRun:
    """Measure every case in at least one round, and in further ones while there is time."""
    run, end = SuiteRun([], []), clock() + seconds_max
    for position, case in enumerate(suite.cases):
        now = clock()
        case_end = now + (end - now) / (len(suite.cases) - position)
        taking_part = [each for each in contenders if each.cases is None or case in each.cases]
        rates: dict[str, list[float]] = {contender.name: [] for contender in taking_part}
        for number in range(rounds):
            started = clock()
            print_progress(f"{suite.name}: {case}, round {number + 1} of {rounds}")
            for failure in _run_round(suite, case, rotate(taking_part, number), rates):
                print_progress(f"FAILED: {failure}")
                run.failures.append(failure)
            taking_part = [each for each in taking_part if each.name in rates]
            if suite.baseline not in rates:
                break  # there is nothing to compare with
            now = clock()
            if now + (now - started) > case_end:
                break  # another round would take longer than there is time
        if suite.baseline in rates:
            run.lines.extend(compare(case, rates, suite.baseline))
    if not run.lines:
        raise MeasurementFailed("; ".join(run.failures))
    return run


def _run_round(
    suite: Suite, case: str, contenders: Sequence[Contender], rates: dict[str, list[float]]
) -> list[str]:
    """Add a rate of each contender. One that fails is removed from the case."""
    failures = []
    for contender in contenders:
        try:
            rates[contender.name].append(contender.measure(case, suite.slice_seconds))
        except MeasurementFailed as error:
            del rates[contender.name]
            failures.append(f"{case}, {contender.name}: {str(error)[:FAILURE_LENGTH_MAX]}")
    return failures


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
            len(values),
        )
        for name, values in rates.items()
    ]


def build_curve(
    lines: Sequence[ComparisonLine], sizes: Mapping[str, int], *, name: str, title: str, labels: str
) -> Curve:
    """The rates of the cases by their size. `labels` are those of both axes: "groups, groups/s"."""
    x_label, y_label = labels.split(", ")
    points: dict[str, list[tuple[float, float]]] = {}
    for line in lines:
        if line.case in sizes:
            size = float(sizes[line.case])
            points.setdefault(line.contender, []).append((size, line.rate.median))
    return Curve(name=name, title=title, x_label=x_label, y_label=y_label, points=points)
