"""Runs test files of a checkout in a process of their own, and says which of them failed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

PASSED, FAILED = 0, 1
FAILURES_MAX = 20  # enough to see what is wrong


@dataclass(frozen=True, slots=True)
class Ran:
    passed: int
    failures: list[str]  # the test and the first line of what it said
    skipped: int = 0

    def misses(self, fewest: int) -> list[str]:
        """What failed; and that too little was run, where it was."""
        enough = self.failures or (self.passed >= fewest and not self.skipped)
        few = f"only {self.passed} cases were run and {self.skipped} skipped, {fewest} expected"
        return self.failures if enough else [few]


def run_tests(root: Path, *files: str) -> Ran:
    """Against the sources beside them, whatever this environment installed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        line = ["-m", "pytest", "-q", f"--maxfail={FAILURES_MAX}", f"--junitxml={report}"]
        done = subprocess.run(
            [sys.executable, *line, "-p", "no:cacheprovider", *files],
            cwd=root,
            env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (PASSED, FAILED):
            raise RuntimeError(f"the tests could not be run:\n{done.stdout[-3000:]}{done.stderr}")
        return _read(report)


def _read(report: Path) -> Ran:
    passed, skipped, failures = 0, 0, []
    for case in ElementTree.parse(report).iter("testcase"):
        wrong = [*case.findall("failure"), *case.findall("error")]
        said = (wrong[0].get("message") or "").partition("\n")[0] if wrong else ""
        if wrong:
            failures.append(f"{case.get('name')}: {said}")
        elif case.find("skipped") is None:
            passed += 1
        else:
            skipped += 1
    return Ran(passed, failures, skipped)
