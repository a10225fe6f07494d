"""Runs test files in a separate process and collects failures."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.fault_injection.replacements import PYTHON_PATH, ROOT
from tests.proof.sampled_tests import SAMPLE_VARIABLE

PASSED, FAILED = 0, 1
FAILURES_MAX = 20


@dataclass(frozen=True, slots=True)
class PytestResult:
    passed: int
    failures: list[str]  # test name and first line of its message
    skipped: int = 0

    def misses(self, minimum: int) -> list[str]:
        """The failures, or a message that too few tests were run."""
        enough = self.failures or (self.passed >= minimum and not self.skipped)
        too_few = f"{self.passed} tests passed, {self.skipped} were skipped, {minimum} expected"
        return self.failures if enough else [too_few]


def run_tests(
    *files: str,
    one_in: int = 1,
    environment: Mapping[str, str] | None = None,
    folder: Path = ROOT,
) -> PytestResult:
    """Run the tests of the folder, or one in this many."""
    with tempfile.TemporaryDirectory() as temporary:
        report = Path(temporary, "report.xml")
        arguments = ["-m", "pytest", "-q", f"--maxfail={FAILURES_MAX}", f"--junitxml={report}"]
        variables = {**os.environ, "PYTHONPATH": PYTHON_PATH, **(environment or {})}
        if one_in > 1:
            arguments += ["-p", "tests.proof.sampled_tests"]
            variables[SAMPLE_VARIABLE] = str(one_in)
        result = subprocess.run(
            [sys.executable, *arguments, "-p", "no:cacheprovider", *files],
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode not in (PASSED, FAILED):
            raise RuntimeError(f"pytest failed:\n{result.stdout[-3000:]}{result.stderr}")
        return _read_report(report)


def _read_report(report: Path) -> PytestResult:
    passed, skipped, failures = 0, 0, []
    for case in ElementTree.parse(report).iter("testcase"):
        problems = [*case.findall("failure"), *case.findall("error")]
        message = (problems[0].get("message") or "").partition("\n")[0] if problems else ""
        if problems:
            failures.append(f"{case.get('name')}: {message}")
        elif case.find("skipped") is None:
            passed += 1
        else:
            skipped += 1
    return PytestResult(passed, failures, skipped)
