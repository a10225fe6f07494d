"""The report of .ci/run fails on failed tests, missing reports and unexplained skips."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
KNOWN_REASONS = "# a comment\nit rains | true\nit snows | false\n"
PASSED = '<testcase classname="tests.a" name="passed"/>'
FAILED = '<testcase classname="tests.a" name="failed"><failure message="wrong"/></testcase>'


@pytest.fixture(scope="module")
def report() -> ModuleType:
    spec = importlib.util.spec_from_file_location("report", ROOT / ".ci" / "report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def known_reasons(tmp_path: Path) -> Path:
    file = tmp_path / "known-skips.txt"
    file.write_text(KNOWN_REASONS)
    return file


@pytest.fixture
def folder(report: ModuleType, tmp_path: Path) -> Path:
    """A report of one passed test for each part."""
    folder = tmp_path / "reports"
    folder.mkdir()
    for part in report.PARTS:
        write_report(folder, part, PASSED)
    return folder


def write_report(folder: Path, part: str, *cases: str) -> None:
    content = f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"
    (folder / f"{part}.xml").write_text(content)


def skipped(reason: str) -> str:
    return f'<testcase classname="tests.a" name="t"><skipped message="{reason}"/></testcase>'


@pytest.mark.parametrize(
    ("reasons", "problems"),
    [
        ((), 0),
        (("it rains",), 0),
        (("it snows",), 1),
        (("it rains", "too slow", "it rains today", ""), 3),
    ],
)
def test_only_listed_reasons_that_apply_are_accepted(
    report: ModuleType,
    folder: Path,
    known_reasons: Path,
    capsys: pytest.CaptureFixture[str],
    reasons: tuple[str, ...],
    problems: int,
) -> None:
    write_report(folder, "unit", PASSED, *map(skipped, reasons))

    code = report.main(folder, known_reasons)

    *lines, summary = capsys.readouterr().out.splitlines()
    assert code == (1 if problems else 0)
    assert len(lines) == problems
    assert summary == f"{len(report.PARTS)} passed, 0 failed, {len(reasons)} skipped"


def test_the_last_line_sums_all_reports_and_a_failure_sets_the_exit_code(
    report: ModuleType, folder: Path, known_reasons: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(folder, "unit", PASSED, PASSED, FAILED)
    write_report(folder, "proof", FAILED, skipped("it rains"))

    code = report.main(folder, known_reasons)

    assert code == 1
    assert capsys.readouterr().out == "4 passed, 2 failed, 1 skipped\n"


def test_missing_and_empty_reports_are_refused(
    report: ModuleType, folder: Path, known_reasons: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "browser.xml").unlink()
    write_report(folder, "proof")

    code = report.main(folder, known_reasons)

    missing, empty, _ = capsys.readouterr().out.splitlines()
    assert code == 1
    assert missing.endswith("browser.xml.")
    assert empty.endswith("proof.xml contains no tests.")


def test_each_known_reason_has_a_condition(report: ModuleType) -> None:
    known = report.read_known_reasons((ROOT / ".ci" / "known-skips.txt").read_text())

    assert "no chromium on this machine" in known
    assert all(known.values())
