"""A suite that fails or hangs does not lose the results of the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import bench.__main__ as command
from bench.runner import RunOptions, wait_for
from bench.suite_records import SuiteRecord
from tests.bench.test_page import RECORD


def start(program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program])


def test_a_failing_suite_does_not_lose_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[SuiteRecord] = []

    def run(name: str, _options: RunOptions, *, commit: str, result: Path) -> str | None:
        if name == "pdf":
            return "ended with code 1"
        record = replace(RECORD, suite=name, commit=commit)
        result.write_bytes(msgspec.json.encode(record))
        return None

    changes: dict[str, Any] = {
        "run_in_own_process": run,
        "keep_record": kept.append,
        "write_pages": lambda _records: None,
        "find_commit": lambda: "0123456789",
        "exit_on_termination": lambda: None,
    }
    for name, value in changes.items():
        monkeypatch.setattr(command, name, value)
    monkeypatch.setattr(sys, "argv", ["bench", "lists", "pdf", "sums"])

    code = command.main()

    assert code == 1
    assert [(record.suite, record.commit) for record in kept] == [
        ("lists", "0123456789"),
        ("sums", "0123456789"),
    ]
    assert "- pdf: ended with code 1" in capsys.readouterr().out


def test_a_process_that_takes_too_long_is_ended() -> None:
    process = start("import time; time.sleep(600)")

    failure = wait_for(process, seconds_max=0.01)

    assert failure == "not finished after 0.01 s"
    assert process.poll() is not None


def test_the_code_of_a_process_that_fails_is_reported() -> None:
    assert wait_for(start("raise SystemExit(3)"), seconds_max=60) == "ended with code 3"
    assert wait_for(start(""), seconds_max=60) is None


def test_the_options_of_a_run_are_passed_on() -> None:
    assert RunOptions(None, None, None).list_arguments() == []
    assert RunOptions(3, 100_000_000, 1.5).list_arguments() == [
        *("--rounds", "3"),
        *("--lines", "100000000"),
        *("--minutes", "1.5"),
    ]
