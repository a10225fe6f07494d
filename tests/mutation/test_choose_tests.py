"""Which tests are run for a mutant, and how it is recorded which lines a test executes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.mutation import choose_tests as limits
from tests.mutation import worker
from tests.mutation.areas import Area
from tests.mutation.choose_tests import ChosenTests, choose_tests
from tests.mutation.executed_lines import RecordedFile, RecordedTest, list_test_files, read_record
from tests.mutation.mutants import Mutant
from tests.mutation.mutated_lines import lines_that_depend_on
from tests.mutation.recording_plugin import Recorder
from tests.mutation.tests_of_lines import TestIndex

SOURCE = """\
LIMIT = 18
class Gate:
    size = 3
    def check(self, value, most=5):
        if value > LIMIT:
            raise ValueError(
                value + 1
            )
        return self.size
"""
FILE, OWN, OTHER = "src/limits.py", "tests/access/test_limits.py", "tests/http/test_bodies.py"
AREA = Area("limits", (), ("tests/access",))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(1, {5}, id="a constant: where it is used"),
        pytest.param(3, {9}, id="a value of a class: where it is used"),
        pytest.param(4, {5, 6, 7, 8, 9}, id="a default value: the function"),
        pytest.param(5, {5}, id="a line"),
    ],
)
def test_the_lines_that_a_test_must_execute(line: int, expected: set[int]) -> None:
    assert lines_that_depend_on(SOURCE, line)[0] == expected


def test_a_line_that_is_never_the_current_one_counts_with_its_statement() -> None:
    assert lines_that_depend_on(SOURCE, 7) == [{7}, {6, 7, 8}]
    assert lines_that_depend_on(SOURCE, 5)[1] == {5}


def recorded(
    lines: list[int], seconds: float = 1.0, *, passed: bool = True, needs_service: bool = False
) -> RecordedTest:
    return RecordedTest(seconds, passed, needs_service, lines={FILE: lines})


def choose(
    root: Path, line: int = 5, *, text: str = "import limits", **files: dict[str, RecordedTest]
) -> ChosenTests:
    """The files are OWN and OTHER; with this text, both import the mutated file."""
    paths = {"own": OWN, "other": OTHER}
    record = {}
    for name, tests in files.items():
        path = paths[name]
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
        named = {f"{path}::{test}": each for test, each in tests.items()}
        record[path] = RecordedFile(path, {}, named, shared_lines={})
    (root / FILE).parent.mkdir()
    (root / FILE).write_text(SOURCE)
    mutant = Mutant(Path(FILE), line, "", "", "")
    return choose_tests(root, AREA, mutant, TestIndex(root, record))


def test_tests_that_execute_the_line_are_run_and_those_without_a_service_first(
    tmp_path: Path,
) -> None:
    chosen = choose(
        tmp_path,
        own={
            "slow": recorded([5], 3.0),
            "quick": recorded([5, 6], 0.1),
            "elsewhere": recorded([9], needs_service=True),
            "failing": recorded([5], passed=False),
        },
        other={"service": recorded([5], 0.01, needs_service=True)},
    )

    assert chosen.first == (f"{OWN}::quick", f"{OWN}::slow", f"{OTHER}::service")
    assert (chosen.more, chosen.left_out) == ((), 0)


def test_for_a_declaration_tests_next_to_those_that_execute_it_are_run_too(
    tmp_path: Path,
) -> None:
    """Others read it, in modules that the record does not connect with it."""
    tests = {"executes": recorded([5]), "reads": recorded([])}

    chosen = choose(tmp_path, 1, text="", own=tests, other={"far": recorded([])})

    assert set(chosen.first) == {f"{OWN}::executes", f"{OWN}::reads"}


def test_for_a_condition_tests_for_which_it_is_true_take_turns_with_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_TESTS_MAX", 2)

    chosen = choose(
        tmp_path,
        own={
            "quick[1]": recorded([5, 9], 0.1),
            "quick[2]": recorded([5, 9], 0.2),
            "slow[refused]": recorded([5, 6], 3.0),
        },
    )

    assert set(chosen.first) == {f"{OWN}::quick[1]", f"{OWN}::slow[refused]"}


def test_each_function_has_its_turn_before_the_parameters_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_TESTS_MAX", 6)
    many = {f"many[{number}]": recorded([5], 0.1) for number in range(9)}

    chosen = choose(tmp_path, other=many | {"one": recorded([5], 3.0)})

    assert len([test for test in chosen.first if "many" in test]) == limits.FIRST_TURNS[1]
    assert f"{OTHER}::one" in chosen.first


def test_a_test_file_of_the_same_name_has_more_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_TESTS_MAX", 16)
    own = {f"many[{number}]": recorded([5], 3.0) for number in range(30)}

    chosen = choose(tmp_path, own=own, other={"quick": recorded([5], 0.1)})

    assert len([test for test in chosen.first if test.startswith(OWN)]) == limits.FIRST_TURNS[0]
    assert f"{OTHER}::quick" in chosen.first


def test_a_line_that_no_test_executes_has_no_tests(tmp_path: Path) -> None:
    chosen = choose(tmp_path, line=7, other={"a": recorded([9])})

    assert chosen.rounds == []


def test_tests_of_the_same_name_may_execute_the_file_in_other_processes(tmp_path: Path) -> None:
    chosen = choose(tmp_path, line=7, own={"a": recorded([])})

    assert chosen.first == (f"{OWN}::a",)


def test_for_a_value_of_a_module_tests_of_files_that_import_it_are_run(tmp_path: Path) -> None:
    chosen = choose(tmp_path, line=1, own={"a": recorded([5])}, other={"b": recorded([9])})

    assert chosen.first == (f"{OWN}::a", f"{OTHER}::b")


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("from nimbill.money import rounding", True),
        ("from nimbill.money import fees, rounding", True),
        ("from nimbill.money import (\n    fees,\n    rounding,\n)", True),
        ("from nimbill.money.rounding import round_half_up", True),
        ("import nimbill.money.rounding", True),
        ("from nimbill.money import rounding_rules", False),
        ("from nimbill.money import fees\nfrom nimbill.costs import rounding", False),
    ],
)
def test_a_file_imports_a_module_in_any_form(tmp_path: Path, text: str, imported: bool) -> None:
    (tmp_path / "test_rounding.py").write_text(text)
    record = {"test_rounding.py": RecordedFile("test_rounding.py", {}, {}, shared_lines={})}

    index = TestIndex(tmp_path, record)

    found = index.files_that_import(Path("src/nimbill/money/rounding.py"))
    assert found == ({"test_rounding.py"} if imported else set())


def test_many_tests_are_run_in_two_rounds_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "FIRST_TESTS_MAX", 2)
    monkeypatch.setattr(limits, "MORE_TESTS_MAX", 3)
    monkeypatch.setattr(limits, "MORE_SECONDS_MAX", 10)
    seconds = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 9, "f": 10}

    chosen = choose(tmp_path, own={name: recorded([5], each) for name, each in seconds.items()})

    assert chosen.first == (f"{OWN}::a", f"{OWN}::b")
    assert chosen.more == (f"{OWN}::c", f"{OWN}::d")
    assert (chosen.left_out, chosen.seconds) == (2, 10)


TEST_FILE = """\
import threading
import pytest
import limits

@pytest.fixture(scope="module")
def shared():
    limits.shared()

@pytest.fixture
def own():
    limits.own()

def test_thread(shared, own):
    thread = threading.Thread(target=limits.in_thread)
    thread.start()
    thread.join()

def test_failing(shared):
    assert limits.wrong()
"""
RECORDED_SOURCE = "def {}():\n    return 0\n"


SETTINGS = """\
[pytest]
pythonpath = .
addopts = --import-mode=importlib -p no:faker -p no:schemathesis
"""


def write_project(root: Path) -> None:
    functions = ("shared", "own", "in_thread", "wrong", "never")
    (root / "limits.py").write_text("".join(RECORDED_SOURCE.format(name) for name in functions))
    (root / "test_limits.py").write_text(TEST_FILE)
    (root / "pytest.ini").write_text(SETTINGS)


def forget_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("limits", "test_limits"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_the_record_tells_what_a_test_its_fixtures_and_its_threads_execute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    forget_modules(monkeypatch)
    write_project(tmp_path)
    record = tmp_path / "record.jsonl"

    recorder = Recorder(tmp_path, record, ["limits.py"])
    pytest.main(["-q", "-p", "no:cacheprovider", "."], plugins=[recorder])

    (file,) = read_record(record).values()
    thread, failing = file.tests.values()
    assert (file.path, file.shared_lines) == ("test_limits.py", {"limits.py": [2]})
    assert (thread.lines, thread.set_up_lines) == ({"limits.py": [6]}, {"limits.py": [4]})
    assert (thread.passed, failing.passed) == (True, False)
    assert failing.lines == {"limits.py": [8]}
    assert file.is_current(tmp_path)
    (tmp_path / "limits.py").write_text("")
    assert not file.is_current(tmp_path)


def test_only_the_chosen_tests_are_run_and_those_that_fail_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    forget_modules(monkeypatch)
    write_project(Path())

    assert worker.find_failing_test(["test_limits.py::test_thread"]) is None
    renamed = ["test_limits.py::test_failing[18]", "test_limits.py::test_thread"]
    assert worker.find_failing_test(renamed) == "test_limits.py::test_failing"
    both = ["test_limits.py::test_failing", "test_limits.py::test_thread"]
    assert worker.find_failing_test(both) == both[0]
    Path("limits.py").write_text("raise ValueError\n")
    forget_modules(monkeypatch)
    assert worker.find_failing_test(both) == worker.AT_IMPORT


def test_test_files_are_listed_once(tmp_path: Path) -> None:
    for name in ("a/test_x.py", "a/b/test_y.py", "a/helper.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert list_test_files(tmp_path, ["a/b", "a", "a/test_x.py"]) == [
        "a/b/test_y.py",
        "a/test_x.py",
    ]
