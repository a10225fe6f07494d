"""Runs the tests of the areas once, to learn which of them execute which lines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.areas import AREAS, NOT_RECORDED_TESTS
from tests.mutation.executed_lines import RecordedFile, list_test_files, read_record
from tests.mutation.recording_plugin import RECORD_VARIABLE, SOURCES_VARIABLE
from tests.proof.broken_variants import ROOT, copy_project

RECORD = ROOT / ".cache" / "mutants" / "executed_lines.jsonl"


def record_executed_lines(folders: Sequence[str], *, anew: bool) -> dict[str, RecordedFile]:
    """The record of all test files of the folders. Only files that changed are run, unless anew."""
    files = [file for file in list_test_files(ROOT, folders) if file not in NOT_RECORDED_TESTS]
    known = {} if anew else read_record(RECORD)
    changed = [file for file in files if file not in known or not known[file].is_current(ROOT)]
    if changed:
        print(f"Recording which lines {len(changed)} test files execute.", flush=True)
        with copy_project() as copy:
            _run(copy, changed)
        known = read_record(RECORD)
    return {file: known[file] for file in files if file in known}


def _run(copy: Path, files: Sequence[str]) -> None:
    """In a copy, as the mutants are run later. Tests that fail there are not used."""
    RECORD.parent.mkdir(parents=True, exist_ok=True)
    sources = [str(file) for area in AREAS for file in area.list_files(ROOT)]
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-p", "tests.mutation.recording_plugin", *files),
        ],
        cwd=copy,
        env={
            **os.environ,
            "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}",
            RECORD_VARIABLE: str(RECORD),
            SOURCES_VARIABLE: ":".join(sources),
        },
        stdin=subprocess.DEVNULL,
        check=False,
    )
