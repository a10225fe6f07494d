"""Finds out which facts the tests hold that compare the pages with the code.

Such a test holds a part of a fact if it fails once that part is changed in the page.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import pytest

from tests.contract import specification
from tests.contract.named_tests import read_source
from tests.contract.specification import ROOT
from tests.contract.stated_facts import Fact, FactPart

# these compare the pages with each other or with the original specification, not with the code
NOT_THE_CODE = {
    "tests/contract/test_basis.py",
    "tests/contract/test_contract_table.py",
    "tests/contract/test_original_specification.py",
    "tests/contract/test_specification_pages.py",
}
READING = r"(?:read_table|read_specification|read_pages?)\("
OTHER_WORDS = {
    "string": "boolean",
    "boolean": "string",
    "integer": "string",
    "number": "string",
    "double": "string",
    "object": "string",
    "array": "string",
    "required": "optional",
    "optional": "required",
    "true": "false",
    "false": "true",
    "Yes": "No",
    "No": "Yes",
    "yes": "no",
    "no": "yes",
    "M": "M?",
    "M?": "M",
    "C": "C?",
    "C?": "C",
    "R": "R?",
    "R?": "R",
}


@dataclass(frozen=True)
class ComparingTest:
    name: str  # file::function
    source: str
    sections: frozenset[str]  # pages and headings among the arguments
    run: Callable[[], Any]

    def may_read(self, fact: Fact) -> bool:
        """Whether its arguments or its source name the heading or the page of a fact."""
        headings = self.sections - specification.read_pages().keys()
        if fact.heading in headings or f'read_table("{fact.heading}"' in self.source:
            return True
        if headings:
            return False
        if fact.page in self.sections or f'"{fact.page}"' in self.source:
            return True
        return not self.sections and f'"{fact.heading}"' in self.source

    def fails(self) -> bool:
        try:
            self.run()
        except Exception:  # noqa: BLE001  # any failure shows that the change was noticed
            return True
        return False


def find_holders(facts: list[Fact]) -> Mapping[tuple[Fact, FactPart], frozenset[str]]:
    """The names of the comparing tests that fail when this part of the fact is changed."""
    tests = list_comparing_tests()
    failing = [test.name for test in tests if test.fails()]
    assert failing == [], "these tests fail, so that they show nothing"
    holders = {}
    for fact in facts:
        readers = [test for test in tests if test.may_read(fact)]
        for part in fact.parts:
            with changed_page(fact.page, _change_part(fact, part)):
                failed = {test.name for test in readers if test.fails()}
            holders[fact, part] = frozenset(failed)
    return holders


def holds(test: str, fact: Fact, part: FactPart) -> bool:
    """Whether a test fails when a part of a fact is changed."""
    cases = [
        case
        for case in _list_tests(test.partition("::")[0])
        if case.name == test and case.may_read(fact)
    ]
    with changed_page(fact.page, _change_part(fact, part)):
        return any(case.fails() for case in cases)


@contextmanager
def changed_page(page: str, text: str) -> Iterator[None]:
    pages = specification.read_pages() | {page: text}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(specification, "read_pages", lambda: pages)
        yield


def change_text(text: str) -> str:
    """Another name, number or word of the same kind."""
    if text in OTHER_WORDS:
        return OTHER_WORDS[text]
    if " (" in text:
        first, _, rest = text.partition(" (")
        return f"{change_text(first)} ({rest}"
    if re.search(r"\[?\?|\}$", text):
        return re.sub(r"(\[?\?|\}$)", r"x\1", text, count=1)
    if text[-1].isdigit():
        return text[:-1] + str((int(text[-1]) + 1) % 10)
    return f"{text[:-1]}x`" if text[-1] == "`" else f"{text}x"


def _change_part(fact: Fact, part: FactPart) -> str:
    lines = specification.read_pages()[fact.page].split("\n")
    if fact.line is not None:
        line = lines[fact.line]
        lines[fact.line] = line[: part.start] + change_text(part.text) + line[part.end :]
        return "\n".join(lines)
    first, last = _section_lines(lines, fact.heading)
    for number in range(first, last):
        if not lines[number].startswith("|"):
            lines[number] = re.sub(
                rf"(?<!\w){re.escape(part.text)}(?!\w)",
                lambda found: change_text(found[0]),
                lines[number],
            )
    return "\n".join(lines)


def _section_lines(lines: list[str], heading: str) -> tuple[int, int]:
    headings = [number for number, line in enumerate(lines) if line.startswith("#")]
    (first,) = (each for each in headings if lines[each].lstrip("#").strip() == heading)
    return first + 1, next((each for each in headings if each > first), len(lines))


def list_comparing_tests() -> list[ComparingTest]:
    """Tests without fixtures in the files that read the pages of the specification."""
    files = [
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if re.search(rf"\b{READING}", path.read_text())
    ]
    return [
        test
        for path in files
        if (file := str(path.relative_to(ROOT))) not in NOT_THE_CODE
        for test in _list_tests(file)
    ]


def _list_tests(file: str) -> Iterator[ComparingTest]:
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for name, function in vars(module).items():
        test = f"{file}::{name}"
        if name.startswith("test_") and re.search(READING, read_source(test)):
            for arguments in _list_arguments(function):
                if set(arguments) == set(inspect.signature(function).parameters):
                    words = {value for value in arguments.values() if isinstance(value, str)}
                    yield ComparingTest(
                        test,
                        read_source(test),
                        frozenset(words & _list_sections()),
                        partial(function, **arguments),
                    )


@cache
def _list_sections() -> frozenset[str]:
    pages = specification.read_pages()
    return frozenset([*pages, *specification.list_headings("\n".join(pages.values()))])


def _list_arguments(function: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """The arguments of each case of a parametrised test."""
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
    for cases in product(*(mark.args[1] for mark in marks)):
        arguments: dict[str, Any] = {}
        for mark, case in zip(marks, cases, strict=True):
            names = mark.args[0]
            names = [names] if isinstance(names, str) else list(names)
            values = (
                getattr(case, "values", None) if type(case).__name__ == "ParameterSet" else None
            )
            values = values if values is not None else (case if len(names) > 1 else (case,))
            arguments |= dict(zip(names, values, strict=True))
        yield arguments
