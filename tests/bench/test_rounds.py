"""Benchmarks compare contenders within each round."""

from dataclasses import replace
from itertools import count

import pytest

from bench import suites
from bench.rounds import (
    Contender,
    MeasurementFailed,
    Suite,
    compare,
    compute_spread,
    rotate,
    run_suite,
)


def build_contender(name: str, *rates: float) -> Contender:
    remaining = iter(rates)
    return Contender(name, "", lambda _case, _seconds: next(remaining))


def failing_contender(name: str, *, fails_at: int) -> Contender:
    numbers = count(1)

    def measure(_case: str, _seconds: float) -> float:
        if next(numbers) == fails_at:
            raise MeasurementFailed("503")
        return 1

    return Contender(name, "", measure)


def build_suite(*cases: str) -> Suite:
    return Suite(
        name="example",
        description="",
        unit="a second",
        cases=cases,
        baseline="ours",
        roles={"theirs": "floor"},
        targets={"theirs": 0.6},
        slice_seconds=1,
        contenders=lambda: pytest.fail("run_suite receives its contenders"),
    )


def test_each_round_starts_with_the_next_contender() -> None:
    contenders = [build_contender(name) for name in "abc"]

    orders = [[contender.name for contender in rotate(contenders, number)] for number in range(4)]

    assert orders == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"]]


def test_ratios_are_computed_within_a_round() -> None:
    """The machine is half as fast in the second round, which does not change the ratio."""
    ours, theirs = compare("case", {"ours": [300, 150], "theirs": [500, 250]}, "ours")

    assert ours.ratio.median == 1
    assert (theirs.ratio.low, theirs.ratio.median, theirs.ratio.high) == (0.6, 0.6, 0.6)


def test_the_spread_is_the_median_and_the_middle_half() -> None:
    assert compute_spread([5, 1, 4, 2, 3]) == (3, 2, 4)
    assert compute_spread([7]) == (7, 7, 7)


def test_every_case_runs_in_every_round() -> None:
    contenders = [
        build_contender("ours", 10, 20, 30, 40),
        build_contender("theirs", 10, 10, 10, 10),
    ]

    lines, failures = run_suite(
        build_suite("first", "second"),
        contenders,
        rounds=2,
        seconds_max=1000,
        print_progress=lambda _: None,
    )

    assert [(line.case, line.contender, line.rate.median) for line in lines] == [
        ("first", "ours", 15),
        ("first", "theirs", 10),
        ("second", "ours", 35),
        ("second", "theirs", 10),
    ]
    assert lines[3].ratio.median == 3.5
    assert {line.rounds for line in lines} == {2}
    assert failures == []


def test_a_round_that_would_exceed_the_time_is_left_out() -> None:
    """Each call of the clock is a second later, so that a second round would take too long."""
    seconds = count()
    contenders = [build_contender("ours", *[1] * 20), build_contender("theirs", *[1] * 20)]

    lines, _ = run_suite(
        build_suite("first", "second"),
        contenders,
        rounds=9,
        seconds_max=5,
        print_progress=lambda _: None,
        clock=lambda: float(next(seconds)),
    )

    assert [(line.case, line.rounds) for line in lines[::2]] == [("first", 1), ("second", 1)]


def test_a_contender_takes_part_in_its_own_cases_only() -> None:
    contenders = [build_contender("ours", 1, 1), replace(build_contender("theirs", 1), cases=["b"])]

    lines, _ = run_suite(
        build_suite("a", "b"),
        contenders,
        rounds=1,
        seconds_max=1000,
        print_progress=lambda _: None,
    )

    assert [(line.case, line.contender) for line in lines] == [
        ("a", "ours"),
        ("b", "ours"),
        ("b", "theirs"),
    ]


def test_a_contender_that_fails_is_left_out_of_the_case() -> None:
    contenders = [build_contender("ours", *[1] * 4), failing_contender("theirs", fails_at=2)]

    lines, failures = run_suite(
        build_suite("a", "b"),
        contenders,
        rounds=2,
        seconds_max=1000,
        print_progress=lambda _: None,
    )

    assert failures == ["a, theirs: 503"]
    assert [(line.case, line.contender) for line in lines] == [
        ("a", "ours"),
        ("b", "ours"),
        ("b", "theirs"),
    ]


def test_a_case_in_which_we_fail_is_left_out() -> None:
    contenders = [failing_contender("ours", fails_at=1), build_contender("theirs", 1, 1)]

    lines, failures = run_suite(
        build_suite("a", "b"),
        contenders,
        rounds=1,
        seconds_max=1000,
        print_progress=lambda _: None,
    )

    assert failures == ["a, ours: 503"]
    assert [(line.case, line.contender) for line in lines] == [("b", "ours"), ("b", "theirs")]


def test_a_suite_without_any_result_fails() -> None:
    with pytest.raises(MeasurementFailed, match="503"):
        run_suite(
            build_suite("a"),
            [failing_contender("ours", fails_at=1)],
            rounds=1,
            seconds_max=1000,
            print_progress=lambda _: None,
        )


@pytest.mark.parametrize("name", suites.list_suites())
def test_every_suite_has_cases_and_targets_for_other_contenders(name: str) -> None:
    suite = suites.load_suite(name)

    assert suite.name == name
    assert suite.cases
    assert suite.baseline not in suite.targets
    assert suite.baseline not in suite.roles
    assert suite.targets.keys() <= suite.roles.keys()
    assert suite.summary_case is None or suite.summary_case in suite.cases
    assert suite.case_descriptions.keys() <= set(suite.cases)
