"""Fails when a test was skipped for a reason that is not known or not true here.

Usage: skips.py <pytest's junit xml> <the list of known reasons>
"""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree


def known_reasons(listed: str) -> dict[str, str]:
    """Each known reason and the shell test that tells whether it is true."""
    lines = [line for line in listed.splitlines() if line.strip() and not line.startswith("#")]
    return {
        reason.strip(): test.strip() for reason, _, test in (line.partition("|") for line in lines)
    }


def skipped(report: Path) -> list[tuple[str, str]]:
    """Every test that did not run to its end, and why; an expected failure counts as one."""
    return [
        (f"{case.get('classname')}::{case.get('name')}", (mark.get("message") or "").strip())
        for case in ElementTree.parse(report).iter("testcase")
        for mark in case.findall("skipped")
    ]


def is_true(test: str) -> bool:
    return subprocess.run(["bash", "-c", test], capture_output=True).returncode == 0


def complaints(report: Path, listed: str) -> list[str]:
    if not report.is_file():
        return [f"there is no report of the tests at {report}"]
    if next(ElementTree.parse(report).iter("testcase"), None) is None:
        return ["not one test was run"]
    known = known_reasons(listed)
    found = []
    for test, reason in skipped(report):
        if reason not in known:
            found.append(f"{test} was skipped for an unknown reason: {reason or 'none given'}")
        elif not is_true(known[reason]):
            found.append(f"{test} was skipped although this is not so here: {reason}")
    return found


def main() -> int:
    found = complaints(Path(sys.argv[1]), Path(sys.argv[2]).read_text())
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
