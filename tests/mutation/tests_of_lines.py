"""Finds the tests that execute given lines, in a record of all of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

from tests.mutation.executed_lines import Lines, RecordedFile, RecordedTest

Place = tuple[str, int]  # mutated file and line


class TestIndex:
    """Tests that fail without any fault are left out."""

    __test__ = False

    def __init__(self, root: Path, record: Mapping[str, RecordedFile]) -> None:
        self.tests: dict[str, RecordedTest] = {}
        self._by_test: defaultdict[Place, set[str]] = defaultdict(set)
        self._by_fixture: defaultdict[Place, set[str]] = defaultdict(set)
        self._by_file: dict[str, list[str]] = {}
        self._texts = {path: (root / path).read_text() for path in record}
        for path, file in record.items():
            passed = {test: each for test, each in file.tests.items() if each.passed}
            self.tests |= passed
            self._by_file[path] = list(passed)
            _add(self._by_fixture, file.shared_lines, passed)
            for test, each in passed.items():
                _add(self._by_test, each.lines, [test])
                _add(self._by_fixture, each.set_up_lines, [test])

    def that_execute(self, source: str, lines: Set[int]) -> set[str]:
        return _find(self._by_test, source, lines)

    def whose_fixtures_execute(self, source: str, lines: Set[int]) -> set[str]:
        return _find(self._by_fixture, source, lines)

    def of_files(self, paths: Iterable[str]) -> set[str]:
        return {test for path in paths for test in self._by_file[path]}

    def files_that_import(self, source: Path) -> set[str]:
        package = re.escape(".".join(source.parent.parts[1:]))
        module = re.escape(source.stem)
        prefix = rf"{package}\." if package else ""
        imported = rf"{prefix}{module}\b|from {package} import (?:\([^)]*|[^\n(]*)\b{module}\b"
        return {path for path, text in self._texts.items() if re.search(imported, text)}


def function_of(test: str) -> str:
    """The name of a test without its parameters."""
    return test.partition("[")[0]


def _add(index: defaultdict[Place, set[str]], lines: Lines, tests: Iterable[str]) -> None:
    for source, numbers in lines.items():
        for number in numbers:
            index[source, number].update(tests)


def _find(index: Mapping[Place, set[str]], source: str, lines: Set[int]) -> set[str]:
    return {test for line in lines for test in index.get((source, line), ())}
