"""The process that prepares an import ends with a refusal when it exceeds memory or time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.imports import preparation
from nimbill.imports.resource_watch import ResourceWatch

EXHAUST_MEMORY = """
from nimbill.imports import preparation
preparation._start_watch().name_file("month.parquet")
blocks = []
while True:
    blocks.append(b"x" * 2**24)
"""
WAIT = """
import time
from nimbill.imports import preparation
preparation._start_watch().name_file("month.zip")
time.sleep(60)
"""


def run_prepared(program: str, **settings: str) -> dict[str, object]:
    """Run the program as the preparing process and return the problem that it reports."""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    problem: dict[str, object] = json.loads(ended.stdout)["prepared"]["problem"]
    return problem


def test_a_process_that_needs_too_much_memory_ends_with_a_refusal() -> None:
    problem = run_prepared(EXHAUST_MEMORY, NIMBILL_IMPORT_MEMORY_MIB="256")

    assert (problem["status"], problem["code"]) == (400, "memory")
    assert problem["file"] == "month.parquet"
    assert "256 MiB" in str(problem["detail"])


def test_a_process_that_takes_too_long_ends_with_a_refusal() -> None:
    problem = run_prepared(WAIT, NIMBILL_IMPORT_SECONDS="1")

    assert (problem["status"], problem["code"]) == (400, "time")
    assert problem["file"] == "month.zip"
    assert "1 seconds" in str(problem["detail"])


def test_each_mebibyte_of_files_extends_the_time() -> None:
    errors: list[CostFileError] = []
    refused = threading.Event()

    def refuse(error: CostFileError) -> None:
        errors.append(error)
        refused.set()

    watch = ResourceWatch(memory_mib=2**20, seconds=0, refuse=refuse)
    watch.extend_time(3 * 2**20 - 1)
    thread = threading.Thread(target=watch._run, daemon=True)
    thread.start()

    assert refused.wait(60)
    assert "longer than 2 seconds" in errors[0].detail


def test_a_message_is_written_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch writes from another thread, which waits for this lock."""
    written: list[bool] = []

    class LockedOutput:
        def write(self, _text: str) -> None:
            written.append(preparation._output_lock.locked())

        def flush(self) -> None:
            written.append(preparation._output_lock.locked())

    monkeypatch.setattr(sys, "stdout", LockedOutput())
    preparation._write_message({"progress": 1})

    assert written == [True, True]
