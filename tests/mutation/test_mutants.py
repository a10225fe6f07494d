"""Which mutants a source file has, which are chosen, and what the report says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.__main__ import choose_mutants, format_report, read_explained
from tests.mutation.areas import AREAS
from tests.mutation.mutants import Mutant, list_mutants
from tests.mutation.run_mutants import MutantResult

FILE = Path("limits.py")


def mutate(folder: Path, source: str) -> dict[str, str]:
    """The mutated sources by description."""
    (folder / FILE).write_text(source)
    return {
        mutant.description: mutant.source
        for mutant in list_mutants(folder, FILE)
        if mutant.compiles()
    }


@pytest.mark.parametrize(
    ("source", "description", "expected"),
    [
        ("x = a < b\n", "<= in a comparison", "x = a <= b\n"),
        ("x = a == b\n", "!= in a comparison", "x = a != b\n"),
        ("x = a and b\n", "or instead of and", "x = (a or b)\n"),
        ("x = a or b\n", "and instead of or", "x = (a and b)\n"),
        ("x = not a\n", "not removed", "x = (a)\n"),
        ("x = a + b\n", "- in a sum", "x = (a - b)\n"),
        ("x = 18\n", "19 instead of 18", "x = 19\n"),
        ("f(shared=True)\n", "False instead of True", "f(shared=False)\n"),
        ("x = select(t).with_for_update()\n", "lock removed", "x = select(t)\n"),
        ("fsync(path)\n", "fsync not called", "pass\n"),
        ("raise Refused()\n", "error not raised", "pass\n"),
        ("if late:\n    stop()\n", "condition never true", "if False:\n    stop()\n"),
        ("é = '円'; x = a < b\n", "<= in a comparison", "é = '円'; x = a <= b\n"),
    ],
)
def test_a_fault_changes_exactly_one_place(
    tmp_path: Path, source: str, description: str, expected: str
) -> None:
    assert mutate(tmp_path, source)[description] == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Docstring with 12."""\n',
        "def f(x: int = None) -> bool: ...\n",
        "assert a < b\n",
        "log.info('x', number=3)\n",
        "basis = chosen('limits')\n",
        "t = sa.Table('t', sa.Column('a', primary_key=True))\n",
        "if TYPE_CHECKING:\n    x = 1\n",
    ],
)
def test_text_types_logs_and_tables_have_no_mutants(tmp_path: Path, source: str) -> None:
    assert mutate(tmp_path, source) == {}


def test_the_seed_decides_and_every_area_takes_part() -> None:
    chosen = choose_mutants(60, seed=1)

    assert len(chosen) == 60
    assert {area.name for area, _ in chosen} == {area.name for area in AREAS}
    assert chosen == choose_mutants(60, seed=1)
    assert chosen != choose_mutants(60, seed=2)


def result(noticed: bool, line: int = 1) -> MutantResult:
    mutant = Mutant(FILE, line, "lock removed", "")
    return MutantResult(mutant, AREAS[0], "tests/access" if noticed else None)


def test_the_report_fails_below_95_percent_and_for_an_unexplained_survivor() -> None:
    explained = read_explained("# comment\nlimits.py: lock removed: the next lock suffices\n")

    assert format_report([result(noticed=True)] * 20, {})[1] == 0
    report, code = format_report([*[result(noticed=True)] * 19, result(noticed=False)], explained)
    assert code == 0
    assert "95.0%" in report
    assert "limits.py:1: lock removed: the next lock suffices" in report
    report, code = format_report([*[result(noticed=True)] * 19, result(noticed=False)], {})
    assert code == 1
    assert "NOT EXPLAINED" in report
    assert format_report([*[result(noticed=True)] * 18, *[result(noticed=False)] * 2], explained)[1]
    assert format_report([], {})[1] == 1
