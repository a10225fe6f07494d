"""Checks the JUnit reports of a test run and prints how many tests passed, failed and were skipped.

Fails if a report is missing, if a test failed, or if a test was skipped for a reason that is not
listed or does not apply to this machine.

Usage: report.py <folder of the JUnit reports> <list of known reasons>
"""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

PARTS = ("rules", "unit", "browser", "proof")  # the reports that `make test` writes


def read_known_reasons(text: str) -> dict[str, str]:
    """Each known reason and the shell command that succeeds where the reason applies."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {
        reason.strip(): command.strip()
        for reason, _, command in (line.partition("|") for line in lines)
    }


def read_cases(report: Path) -> list[ElementTree.Element]:
    return list(ElementTree.parse(report).iter("testcase"))


def find_missing_reports(folder: Path) -> Iterator[str]:
    for part in PARTS:
        report = folder / f"{part}.xml"
        if not report.is_file():
            yield f"The tests wrote no report {report}."
        elif not read_cases(report):
            yield f"The report {report} contains no tests."


def find_unknown_skips(cases: list[ElementTree.Element], known: dict[str, str]) -> Iterator[str]:
    """An expected failure counts as a skip."""
    for case in cases:
        for mark in case.findall("skipped"):
            name = f"{case.get('classname')}::{case.get('name')}"
            reason = (mark.get("message") or "").strip()
            if reason not in known:
                yield f"{name} was skipped for an unknown reason: {reason or 'none'}"
            elif not applies(known[reason]):
                yield f"{name} was skipped for a reason that does not apply here: {reason}"


def applies(command: str) -> bool:
    return subprocess.run(["bash", "-c", command], capture_output=True).returncode == 0


def count_outcomes(cases: list[ElementTree.Element]) -> Counter[str]:
    return Counter(
        "failed"
        if case.find("failure") is not None or case.find("error") is not None
        else "skipped"
        if case.find("skipped") is not None
        else "passed"
        for case in cases
    )


def main(folder: Path, known_reasons: Path) -> int:
    known = read_known_reasons(known_reasons.read_text())
    cases = [case for report in sorted(folder.glob("*.xml")) for case in read_cases(report)]
    problems = [*find_missing_reports(folder), *find_unknown_skips(cases, known)]
    for problem in problems:
        print(problem)
    count = count_outcomes(cases)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if problems or count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
