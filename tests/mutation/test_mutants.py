"""Which mutants a source file has, which are chosen, and what the report says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.areas import AREAS
from tests.mutation.choose_tests import ChosenTests
from tests.mutation.mutants import Mutant, list_mutants
from tests.mutation.report import format_report, read_explained
from tests.mutation.run_mutants import MutantResult
from tests.mutation.sample import choose_mutants, in_random_order

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


def test_new_lines_do_not_change_the_order_of_the_mutants_that_were_there(tmp_path: Path) -> None:
    lines = [f"x{number} = a < {number}\n" for number in range(20)]
    (tmp_path / FILE).write_text("".join(lines))
    before = [each.key for each in in_random_order(list_mutants(tmp_path, FILE), seed=1)]

    (tmp_path / FILE).write_text("y = not b\n" + "".join(lines))
    after = [each.key for each in in_random_order(list_mutants(tmp_path, FILE), seed=1)]

    assert len(after) == len(before) + 1
    assert [key for key in after if key in before] == before
    assert before != sorted(before)


def result(*, noticed: bool, left_out: int = 0, area: int = 0) -> MutantResult:
    mutant = Mutant(FILE, 7, "select(t).with_for_update()", "lock removed", "")
    tests = ChosenTests(("tests/access/test_a.py::test_b",), (), left_out, seconds=1)
    return MutantResult(mutant, AREAS[area], tests, tests.first[0] if noticed else None)


EXPLAINED = read_explained(
    "# comment\nlimits.py | select(t).with_for_update() | lock removed | the next lock suffices\n"
)


def test_the_report_fails_below_95_percent_and_for_an_unexplained_survivor() -> None:
    noticed, survivor = [result(noticed=True)], [result(noticed=False)]

    assert format_report(noticed * 20, {})[1] == 0
    report, code = format_report(noticed * 19 + survivor, EXPLAINED)
    assert code == 0
    assert "95.0%" in report
    assert "limits.py:7: lock removed: select(t).with_for_update(): the next lock" in report
    report, code = format_report(noticed * 19 + survivor, {})
    assert code == 1
    assert "NOT EXPLAINED" in report
    assert format_report(noticed * 18 + survivor * 2, EXPLAINED)[1] == 1
    assert format_report([], {})[1] == 1


def test_the_report_has_the_share_of_each_area_and_says_which_tests_were_left_out() -> None:
    results = [
        result(noticed=True),
        result(noticed=True, area=1),
        result(noticed=False, left_out=9),
    ]

    report, _ = format_report(results, EXPLAINED)

    assert "2 of 3 mutants were noticed: 66.7%." in report
    assert f"{AREAS[0].name}: 1 of 2, 50.0%" in report
    assert f"{AREAS[1].name}: 1 of 1, 100.0%" in report
    assert "survived (1 tests, 9 more execute it)" in report
