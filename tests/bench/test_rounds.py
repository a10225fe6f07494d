"""Benchmarks compare within a round, and say how far the rounds lie apart."""

import pytest

from bench import suites
from bench.rounds import Contender, Suite, compared, in_turn, run, spread


def contender(name: str, *rates: float) -> Contender:
    left = iter(rates)
    return Contender(name, "", lambda _case, _seconds: next(left))


def suite(*cases: str) -> Suite:
    return Suite(
        name="example",
        what="",
        unit="a second",
        cases=cases,
        ours="ours",
        aims={"theirs": 0.6},
        slice_seconds=1,
        contenders=lambda: pytest.fail("run is given its contenders"),
    )


def test_each_round_starts_with_the_next_one() -> None:
    a, b, c = contender("a"), contender("b"), contender("c")

    assert [[one.name for one in in_turn([a, b, c], number)] for number in range(4)] == [
        ["a", "b", "c"],
        ["b", "c", "a"],
        ["c", "a", "b"],
        ["a", "b", "c"],
    ]


def test_ratios_are_taken_within_a_round() -> None:
    """The machine is twice as slow in the second round: the ratio does not notice."""
    ours, theirs = compared("case", {"ours": [300, 150], "theirs": [500, 250]}, "ours")

    assert ours.ratio.middle == 1
    assert (theirs.ratio.low, theirs.ratio.middle, theirs.ratio.high) == (0.6, 0.6, 0.6)


def test_the_middle_and_the_middle_half_are_shown() -> None:
    assert spread([5, 1, 4, 2, 3]) == (3, 2, 4)
    assert spread([7]) == (7, 7, 7)


def test_every_case_is_run_in_every_round() -> None:
    contenders = [contender("ours", 10, 20, 30, 40), contender("theirs", 10, 10, 10, 10)]

    lines = run(suite("first", "second"), contenders, rounds=2, progress=lambda _: None)

    assert [(line.case, line.contender, line.rate.middle) for line in lines] == [
        ("first", "ours", 15),
        ("first", "theirs", 10),
        ("second", "ours", 35),
        ("second", "theirs", 10),
    ]
    assert lines[3].ratio.middle == 3.5


@pytest.mark.parametrize("name", suites.names())
def test_every_suite_names_its_aims_by_contenders_of_others(name: str) -> None:
    found = suites.suite_named(name)

    assert found.name == name
    assert found.cases
    assert found.ours not in found.aims
