"""Chooses the tests that are run for a mutant: those that execute its line, cheapest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests.mutation.areas import IN_SUBPROCESS, Area
from tests.mutation.executed_lines import RecordedTest
from tests.mutation.mutants import Mutant
from tests.mutation.mutated_lines import (
    is_in_function,
    lines_after_decision,
    lines_that_depend_on,
)
from tests.mutation.tests_of_lines import TestIndex, function_of

FIRST_TESTS_MAX = 40
MORE_TESTS_MAX = 200
MORE_SECONDS_MAX = 120
# How many tests of one function come before other functions have their turn, by distance. A row of
# a table is often the only test of its value.
FIRST_TURNS = {0: 15, 1: 5}
ALL_LINES = frozenset(range(1, 1000))


@dataclass(frozen=True, slots=True)
class ChosenTests:
    """Two rounds. The second is run if all tests of the first pass."""

    first: tuple[str, ...]
    more: tuple[str, ...]
    left_out: int  # tests that execute the line and are in neither round
    seconds: float  # what both rounds took when they were recorded

    @property
    def rounds(self) -> list[tuple[str, ...]]:
        return [tests for tests in (self.first, self.more) if tests]

    @property
    def files(self) -> set[str]:
        return {test.partition("::")[0] for test in [*self.first, *self.more]}


def choose_tests(root: Path, area: Area, mutant: Mutant, index: TestIndex) -> ChosenTests:
    importing = index.files_that_import(mutant.file)
    found = {test: index.tests[test] for test in _find_tests(root, mutant, index, importing)}
    decided = _that_decide(root, mutant, index)
    groups = (
        {test: each for test, each in found.items() if test in decided},
        {test: each for test, each in found.items() if test not in decided},
    )
    in_order = [_order(area, mutant.file, importing, group) for group in groups]
    ordered = [test for turn in zip_longest(*in_order) for test in turn if test is not None]
    first, rest = ordered[:FIRST_TESTS_MAX], ordered[FIRST_TESTS_MAX:]
    more = list(_within(MORE_SECONDS_MAX, rest[:MORE_TESTS_MAX], found))
    return ChosenTests(
        first=tuple(_group_by_file(first, found)),
        more=tuple(_group_by_file(more, found)),
        left_out=len(ordered) - len(first) - len(more),
        seconds=sum(found[test].seconds for test in [*first, *more]),
    )


def _find_tests(root: Path, mutant: Mutant, index: TestIndex, importing: Set[str]) -> set[str]:
    file, source = str(mutant.file), (root / mutant.file).read_text()
    found: set[str] = set()
    for lines in lines_that_depend_on(source, mutant.line):
        found = found or _that_execute(index, file, lines)
    if not found and file in IN_SUBPROCESS:
        found = _that_execute(index, IN_SUBPROCESS[file], ALL_LINES)
    if not is_in_function(source, mutant.line):
        found |= index.of_files(importing)
        if len(found) < FIRST_TESTS_MAX:
            # Other modules read what is declared here; tests that see it are often next to these.
            found |= index.of_files({test.partition("::")[0] for test in found})
    # Tests of the file may execute it in processes of their own, which are not traced.
    named = index.of_files(
        path for path in importing if Path(path).stem == f"test_{Path(file).stem}"
    )
    return found | {test for test in named if not index.tests[test].needs_service}


def _that_decide(root: Path, mutant: Mutant, index: TestIndex) -> set[str]:
    """Of a condition, those for which it is true. They may be few, and are as important."""
    lines = lines_after_decision((root / mutant.file).read_text(), mutant.line)
    return index.that_execute(str(mutant.file), lines)


def _that_execute(index: TestIndex, source: str, lines: Set[int]) -> set[str]:
    """Tests that execute one of the lines themselves; if few do, also those whose fixtures do."""
    found = index.that_execute(source, lines)
    if len(found) < FIRST_TESTS_MAX:
        found |= index.whose_fixtures_execute(source, lines)
    return found


def _order(
    area: Area, file: Path, importing: Set[str], tests: Mapping[str, RecordedTest]
) -> list[str]:
    """Functions take turns, nearest and cheapest first; near ones have several at first."""
    functions: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: (tests[test].seconds, test)):
        functions.setdefault(function_of(test), []).append(test)
    keys: dict[str, tuple[int, int, float]] = {}
    for own in functions.values():
        distance = _distance(area, file, importing, own[0])
        for number, test in enumerate(own):
            turn = max(0, number - FIRST_TURNS.get(distance, 1) + 1)
            keys[test] = (turn, distance, tests[test].seconds)
    return sorted(keys, key=lambda test: keys[test])


def _distance(area: Area, file: Path, importing: Set[str], test: str) -> int:
    """0 for a test file of the same name, then those that import the file, those of the area."""
    path = test.partition("::")[0]
    is_of_area = path.startswith(area.tests)
    nearness = [is_of_area and file.stem in Path(path).stem, path in importing, is_of_area]
    return [*nearness, True].index(True)


def _within(
    seconds_max: float, tests: Iterable[str], recorded: Mapping[str, RecordedTest]
) -> Iterator[str]:
    total = 0.0
    for test in tests:
        total += recorded[test].seconds
        if total <= seconds_max:
            yield test


def _group_by_file(tests: Sequence[str], recorded: Mapping[str, RecordedTest]) -> list[str]:
    """Tests of a file share fixtures. Files without the service are first, then the nearest."""
    places: dict[str, tuple[bool, int]] = {}
    for number, test in enumerate(tests):
        file, needs_service = test.partition("::")[0], recorded[test].needs_service
        others, place = places.get(file, (False, number))
        places[file] = (others or needs_service, place)
    return sorted(tests, key=lambda test: places[test.partition("::")[0]])
