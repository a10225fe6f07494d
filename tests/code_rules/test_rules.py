"""The rules of the house hold for this project."""

import datetime
from pathlib import Path

from tests.code_rules import rules

ROOT = Path(__file__).parents[2]


def test_no_file_is_long() -> None:
    assert rules.long_files(ROOT) == []


def test_no_function_is_long() -> None:
    assert rules.long_functions(ROOT) == []


def test_every_file_begins_with_its_purpose() -> None:
    assert rules.files_without_purpose(ROOT) == []


def test_every_file_says_something_by_its_name() -> None:
    assert rules.nameless_files(ROOT) == []


def test_there_is_no_float_near_money() -> None:
    assert rules.floats_near_money(ROOT) == []


def test_questions_to_records_name_whose_records() -> None:
    assert rules.questions_without_scope(ROOT) == []


def test_no_debt_is_past_due() -> None:
    assert rules.debts_past_due(ROOT, datetime.datetime.now(datetime.UTC).date()) == []


def test_lock_files_name_no_host() -> None:
    assert rules.locks_that_name_a_host(ROOT) == []


def test_lock_files_pin_by_hash() -> None:
    assert rules.unhashed_requirements(ROOT) == []


def test_there_is_something_to_keep_the_rules_of() -> None:
    """A rule over no files would be kept by anything."""
    assert len(list(rules.ours(ROOT, ".py"))) > 10
    assert sorted(path.name for path in (ROOT / "requirements").glob("*.txt")) == [
        "bench.txt",
        "dev.txt",
        "run.txt",
        "spark.txt",
        "uv.txt",
    ]
    assert (ROOT / "web" / "package-lock.json").is_file()
