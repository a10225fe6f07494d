"""The report of the official validator is read, and every expected finding is explained."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.contract.specification import ROOT
from tests.focus.findings import EXPECTED, IncompleteReport, describe_differences, parse_failures
from tests.focus.samples import write_samples

REPORT = """
=== Validation Results ===
Total: 4 | Pass: 1 | Fail: 2 | Skipped: 1
⏭️ RegionId-C-003-C: SKIPPED  (violations=0, reason=dynamic, msg=Rule skipped)
❌ SkuId-C-000-M: FAIL  (violations=1, msg=SkuId-C-000-M: AND failed - failed child rules: [x])
❌ SkuId-C-004-C: FAIL  (violations=3, msg=SkuId MUST be NULL., 5.3ms)
✅ TagsC-000-M: PASS  (violations=0, msg=fine)
"""


def test_a_report_names_the_rules_that_fail_by_themselves() -> None:
    assert parse_failures(REPORT) == {"SkuId-C-004-C": 3}


@pytest.mark.parametrize(
    "report",
    [
        "",
        "Traceback (most recent call last):",
        REPORT.replace("Fail: 2", "Fail: 3"),
        "Total: 9 | Pass: 0 | Fail: 0 | Skipped: 9\n",
    ],
)
def test_a_report_that_is_not_complete_is_a_failure(report: str) -> None:
    with pytest.raises(IncompleteReport):
        parse_failures(report)


def test_new_missing_and_more_findings_are_described() -> None:
    failures = {rule: 1 if lines is None else lines for rule, lines in EXPECTED["vendor"].items()}
    assert describe_differences("vendor", failures) == []

    del failures["InvoiceId-C-004-C"]
    failures |= {"EffectiveCost-C-005-C": 4, "SkuId-C-004-C": 3}

    problems = describe_differences("vendor", failures)
    assert [problem.split()[0] for problem in problems] == [
        "EffectiveCost-C-005-C",
        "InvoiceId-C-004-C",
        "SkuId-C-004-C",
    ]


def test_every_expected_finding_is_explained() -> None:
    page = (ROOT / "docs" / "focus.md").read_text()
    explained = {
        line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and "-C-" in line
    }

    assert explained == {rule for rules in EXPECTED.values() for rule in rules}


def test_the_sample_month_has_files_of_every_version_and_price(tmp_path: Path) -> None:
    samples = write_samples(tmp_path)

    files = [
        file
        for path in samples.values()
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]
    assert len(files) == 2 + 2 * 3
    assert all(len(pq.read_table(file)) > 0 for file in files)
