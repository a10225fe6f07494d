"""Runs the tests of the areas once, to learn which of them execute which lines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tests.fault_injection.replacements import PYTHON_PATH, ROOT
from tests.mutation.areas import AREAS, NOT_RECORDED_TESTS
from tests.mutation.executed_lines import RecordedFile, list_test_files, read_record
from tests.mutation.recording_plugin import RECORD_VARIABLE, SOURCES_VARIABLE

RECORD = ROOT / ".cache" / "mutants" / "executed_lines.jsonl"


def record_executed_lines(
    folders: Sequence[str], *, anew: bool, processes: int
) -> dict[str, RecordedFile]:
    """The record of all test files of the folders. Only files that changed are run, unless anew."""
    files = [file for file in list_test_files(ROOT, folders) if file not in NOT_RECORDED_TESTS]
    known = {} if anew else read_record(RECORD)
    changed = [file for file in files if file not in known or not known[file].is_current(ROOT)]
    if changed:
        print(f"Recording which lines {len(changed)} test files execute.", flush=True)
        _run(changed, processes)
        known = read_record(RECORD)
    return {file: known[file] for file in files if file in known}


def _run(files: Sequence[str], processes: int) -> None:
    """Tests that fail are not used later."""
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    sources = [str(file) for area in AREAS for file in area.list_files(ROOT)]
    environment = {
        **os.environ,
        "PYTHONPATH": PYTHON_PATH,
        RECORD_VARIABLE: str(RECORD),
        SOURCES_VARIABLE: ":".join(sources),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.mutation.recording_plugin"]
    parts = [files[number::processes] for number in range(processes)]
    running = [
        subprocess.Popen([*command, *part], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL)
        for part in parts
        if part
    ]
    for process in running:
        process.wait()
