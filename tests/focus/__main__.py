"""`make focus-check`: writes sample FOCUS files and checks them with the validators of others.

focus-data-toolkit checks version 1.4 and its data sets against each other. focus-validator, the
official program, checks version 1.2; it needs Python 3.12.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.focus.findings import CRITERIA, IncompleteReport, describe_differences, parse_failures
from tests.focus.samples import write_samples

PROGRAMS = Path(__file__).parents[2] / ".venv-focus" / "bin"
DATA_SETS = {
    "cost_and_usage.parquet": "Cost and Usage",
    "invoice_detail.parquet": "Invoice Detail",
    "billing_period.parquet": "Billing Period",
}
# The command line cannot be told that Invoice Detail comes from real invoices.
RECONCILE = """
import sys
from focus_data_toolkit.cli import _FileRows
from focus_data_toolkit.validate.bundle import validate_dataset_bundle
names = dict(zip(sys.argv[2::2], sys.argv[3::2]))
rows = {name: _FileRows(f"{sys.argv[1]}/{file}", name) for file, name in names.items()}
report = validate_dataset_bundle(rows, invoice_detail_authoritative=True, rounding_tolerance=0)
print(report.format())
sys.exit(bool(report.errors or report.warnings))
"""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nimbill-focus-") as folder:
        samples = write_samples(Path(folder))
        problems = [
            problem
            for (version, price), path in samples.items()
            for problem in (
                _check_bundle(path, price) if version == "1.4" else _check_file(path, price)
            )
        ]
    for problem in problems:
        print(problem, file=sys.stderr)
    print("FOCUS exports:", f"{len(problems)} problems" if problems else "as expected")
    return 1 if problems else 0


def _check_bundle(folder: Path, price: str) -> list[str]:
    """Each data set by itself, then all together."""
    toolkit, problems = str(PROGRAMS / "focus-toolkit"), []
    for file, data_set in DATA_SETS.items():
        problems += _run(
            [toolkit, "validate", str(folder / file), "--dataset", data_set],
            f"1.4 {price} {file}",
        )
    problems += _run(
        [toolkit, "validate-bundle", "--directory", str(folder)], f"1.4 {price} data sets"
    )
    if price == "customer":
        names = [text for pair in DATA_SETS.items() for text in pair]
        python = str(PROGRAMS / "python")
        problems += _run(
            [python, "-c", RECONCILE, str(folder), *names], f"1.4 {price} reconciliation"
        )
    return problems


def _run(command: list[str], name: str) -> list[str]:
    result = subprocess.run(command, capture_output=True, text=True)
    print(f"{name}: {'passed' if result.returncode == 0 else 'failed'}", flush=True)
    return [] if result.returncode == 0 else [f"{name}:\n{result.stdout}{result.stderr}"]


def _check_file(file: Path, price: str) -> list[str]:
    validator, name = PROGRAMS / "focus-validator", f"1.2 {price}"
    if not validator.exists():
        print(f"{name}: skipped, because focus-validator needs Python 3.12", flush=True)
        return []
    # it looks for one of its own files relative to the folder of installed packages
    (packages,) = PROGRAMS.parent.glob("lib/python*/site-packages")
    result = subprocess.run(
        [
            *(str(validator), "--data-file", str(file), "--validate-version", "1.2.0.1"),
            *("--applicability-criteria", ",".join(CRITERIA), "--block-download"),
            *("--output-type", "console"),
        ],
        cwd=packages,
        capture_output=True,
        text=True,
    )
    try:
        failures = parse_failures(result.stdout)
    except IncompleteReport as report:
        return [f"{name}: focus-validator wrote no complete report.\n{report}{result.stderr}"]
    problems = describe_differences(price, failures)
    print(f"{name}: {len(failures)} findings, {'not ' if problems else ''}as expected", flush=True)
    return [f"{name}: {problem}" for problem in problems]


if __name__ == "__main__":
    sys.exit(main())
