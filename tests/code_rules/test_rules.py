"""This project keeps the rules of its code base."""

import datetime
from pathlib import Path

from tests.code_rules import rules

ROOT = Path(__file__).parents[2]


def test_no_file_is_too_long() -> None:
    assert rules.long_files(ROOT) == []


def test_no_function_is_too_long() -> None:
    assert rules.long_functions(ROOT) == []


def test_every_file_begins_with_its_purpose() -> None:
    assert rules.files_without_purpose(ROOT) == []


def test_every_class_name_is_defined_once() -> None:
    assert rules.repeated_class_names(ROOT) == []


def test_no_float_is_near_money() -> None:
    assert rules.floats_near_money(ROOT) == []


def test_every_query_takes_a_scope() -> None:
    assert rules.queries_without_scope(ROOT) == []


def test_no_debt_is_past_due() -> None:
    assert rules.debts_past_due(ROOT, datetime.datetime.now(datetime.UTC).date()) == []


def test_no_test_measures_a_duration() -> None:
    assert rules.measured_durations(ROOT) == []


def test_no_test_uses_a_fixed_port() -> None:
    assert rules.fixed_ports(ROOT) == []


def test_one_module_reads_the_time_of_day() -> None:
    assert rules.wall_clock_reads(ROOT) == []


def test_lock_files_name_no_host() -> None:
    assert rules.lock_files_with_hosts(ROOT) == []


def test_lock_files_pin_by_hash() -> None:
    assert rules.requirements_without_hash(ROOT) == []


def test_the_rules_are_applied_to_existing_files() -> None:
    """A rule that looks at no files would never be broken."""
    assert len(list(rules.source_files(ROOT, ".py"))) > 800
    assert len(list(rules.files_near_money(ROOT))) > 60
    assert sorted(path.name for path in (ROOT / "requirements").glob("*.txt")) == [
        "bench.txt",
        "clients.txt",
        "dev.txt",
        "focus.txt",
        "run.txt",
        "spark.txt",
        "uv.txt",
    ]
    assert (ROOT / "web" / "package-lock.json").is_file()
