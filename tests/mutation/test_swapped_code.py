"""A mutant is put into the functions of a running process, and taken out again."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tests.mutation.swapped_code import NotSwappable, swapped_code

SOURCE = """\
LIMIT = 18
class Gate:
    size = 3
    def admits(self, value):
        return value < LIMIT
def counter(start):
    def count(step):
        refuse(
            step
        )
        return start + step
    return count
def refuse(step):
    if step > 2:
        raise ValueError
def most(value=5):
    return value
"""
PATH = str(Path(__file__).with_name("gate.py"))


@pytest.fixture
def gate() -> ModuleType:
    module = ModuleType("gate")
    exec(compile(SOURCE, PATH, "exec", dont_inherit=True), module.__dict__)
    return module


def test_functions_methods_and_existing_closures_get_the_fault(gate: ModuleType) -> None:
    door, count = gate.Gate(), gate.counter(10)
    assert not door.admits(18)

    with swapped_code(PATH, SOURCE, SOURCE.replace("value < LIMIT", "value <= LIMIT")):
        assert door.admits(18)
    with swapped_code(PATH, SOURCE, SOURCE.replace("start + step", "start - step")):
        assert count(1) == 9
        assert gate.counter(10)(1) == 9
    with (
        swapped_code(PATH, SOURCE, SOURCE.replace("refuse(\n            step\n        )", "pass")),
        pytest.raises(ValueError),
    ):
        gate.refuse(3)

    assert not door.admits(18)
    assert count(1) == 11


@pytest.mark.parametrize(
    ("original", "mutated"),
    [
        pytest.param("LIMIT = 18", "LIMIT = 19", id="module"),
        pytest.param("size = 3", "size = 4", id="class"),
        pytest.param("value=5", "value=6", id="default value"),
        pytest.param("return start + step", "pass", id="fewer variables of the outer function"),
    ],
)
def test_what_runs_at_import_cannot_be_swapped(
    gate: ModuleType, original: str, mutated: str
) -> None:
    count = gate.counter(10)

    with pytest.raises(NotSwappable), swapped_code(PATH, SOURCE, SOURCE.replace(original, mutated)):
        pass

    assert count(1) == 11
