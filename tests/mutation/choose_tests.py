"""Chooses the tests that are run for a mutant: those that execute its line, cheapest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests.mutation.areas import IN_SUBPROCESS, Area
from tests.mutation.executed_lines import RecordedTest
from tests.mutation.mutants import Mutant
from tests.mutation.mutated_lines import is_in_function, lines_that_depend_on
from tests.mutation.tests_of_lines import TestIndex

FIRST_TESTS_MAX = 40
MORE_TESTS_MAX = 200
MORE_SECONDS_MAX = 120
ALL_LINES = frozenset(range(1, 1000))
SERVICE_SECONDS = 5  # what starting the service adds to the tests of a run


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
    ordered = list(_take_turns(_by_nearness(area, mutant.file, importing, found)))
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
    return found


def _that_execute(index: TestIndex, source: str, lines: Set[int]) -> set[str]:
    """Tests that execute one of the lines themselves; if few do, also those whose fixtures do."""
    found = index.that_execute(source, lines)
    if len(found) < FIRST_TESTS_MAX:
        found |= index.whose_fixtures_execute(source, lines)
    return found


def _by_nearness(
    area: Area, file: Path, importing: Set[str], tests: Mapping[str, RecordedTest]
) -> Sequence[Sequence[list[str]]]:
    """Test files of the same name, that import the file, of the area, and others; by cost."""
    files: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: (tests[test].seconds, test)):
        files.setdefault(test.partition("::")[0], []).append(test)
    groups: list[list[list[str]]] = [[], [], [], []]
    for path, own in files.items():
        is_of_area = path.startswith(area.tests)
        nearness = [is_of_area and file.stem in Path(path).stem, path in importing, is_of_area]
        groups[[*nearness, True].index(True)].append(own)
    return groups


def _take_turns(groups: Iterable[Sequence[list[str]]]) -> Iterator[str]:
    """One test of each file, then the next of each: tests of one file resemble each other."""
    for files in groups:
        for turn in zip_longest(*files):
            yield from (test for test in turn if test is not None)


def _within(
    seconds_max: float, tests: Iterable[str], recorded: Mapping[str, RecordedTest]
) -> Iterator[str]:
    total = 0.0
    for test in tests:
        total += recorded[test].seconds
        if total <= seconds_max:
            yield test


def _group_by_file(tests: Sequence[str], recorded: Mapping[str, RecordedTest]) -> list[str]:
    """Files without the service first, then the cheapest; they share fixtures."""
    costs: dict[str, float] = {}
    for test in tests:
        file, each = test.partition("::")[0], recorded[test]
        costs[file] = max(costs.get(file, 0), SERVICE_SECONDS * each.needs_service) + each.seconds
    return sorted(tests, key=lambda test: (costs[test.partition("::")[0]], test.partition("::")[0]))
