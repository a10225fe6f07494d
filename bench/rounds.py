"""Rounds in turn (A B C, B C A, …), so that what disturbs the machine disturbs everyone alike."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import NamedTuple

# what a contender did in one slice of a case: so many a second
Measure = Callable[[str, float], float]


@dataclass(frozen=True, slots=True)
class Contender:
    """`measure(case, seconds)` answers how many it managed a second."""

    name: str
    what: str
    measure: Measure


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases that every contender is put through; `ours` is the one the ratios are of."""

    name: str
    what: str
    unit: str
    cases: Sequence[str]
    ours: str
    aims: Mapping[str, float]  # least ratio of ours to that contender
    slice_seconds: float
    contenders: Callable[[], AbstractContextManager[Sequence[Contender]]]
    of_lines: Callable[[int], "Suite"] | None = None  # the same suite over so many lines
    more: Callable[[], Sequence[str]] | None = None  # what else was seen, once it has run


class Spread(NamedTuple):
    """Of several rounds: the middle one, and the two between which half of them lie."""

    middle: float
    low: float
    high: float


class Line(NamedTuple):
    """One contender in one case; the ratio is ours to it, round by round."""

    case: str
    contender: str
    rate: Spread
    ratio: Spread


def spread(figures: Sequence[float]) -> Spread:
    if len(figures) == 1:
        return Spread(figures[0], figures[0], figures[0])
    low, _, high = quantiles(figures, n=4, method="inclusive")
    return Spread(median(figures), low, high)


def run(
    suite: Suite, contenders: Sequence[Contender], *, rounds: int, progress: Callable[[str], None]
) -> list[Line]:
    """Every case in as many rounds; each round starts with the next contender."""
    lines = []
    for case in suite.cases:
        rates: dict[str, list[float]] = {contender.name: [] for contender in contenders}
        for number in range(rounds):
            progress(f"{suite.name}: {case}, round {number + 1} of {rounds}")
            for contender in in_turn(contenders, number):
                rates[contender.name].append(contender.measure(case, suite.slice_seconds))
        lines += compared(case, rates, suite.ours)
    return lines


def in_turn(contenders: Sequence[Contender], number: int) -> Sequence[Contender]:
    first = number % len(contenders)
    return [*contenders[first:], *contenders[:first]]


def compared(case: str, rates: Mapping[str, Sequence[float]], ours: str) -> list[Line]:
    """Ratios are taken within a round, then the middle one; never of figures minutes apart."""
    return [
        Line(
            case,
            name,
            spread(figures),
            spread([mine / theirs for mine, theirs in zip(rates[ours], figures, strict=True)]),
        )
        for name, figures in rates.items()
    ]
