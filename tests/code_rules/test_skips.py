"""A skipped test passes only for a reason that is listed and true."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
LISTED = "# a note\nit rains | true\nit snows | false\n"


@pytest.fixture(scope="module")
def skips() -> ModuleType:
    found = importlib.util.spec_from_file_location("skips", ROOT / ".ci" / "skips.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def report(folder: Path, *reasons: str) -> Path:
    cases = "".join(
        f'<testcase classname="tests.a" name="t{number}"><skipped message="{reason}"/></testcase>'
        for number, reason in enumerate(reasons)
    )
    path = folder / "tests.xml"
    path.write_text(
        f"<testsuites><testsuite>{cases}<testcase name='passed'/></testsuite></testsuites>"
    )
    return path


@pytest.mark.parametrize(
    ("reasons", "count"),
    [
        ((), 0),
        (("it rains",), 0),
        (("it snows",), 1),
        (("it rains", "too slow", "it rains today", ""), 3),
    ],
)
def test_only_true_and_listed_reasons_pass(
    skips: ModuleType, tmp_path: Path, reasons: tuple[str, ...], count: int
) -> None:
    assert len(skips.complaints(report(tmp_path, *reasons), LISTED)) == count


def test_no_report_and_an_empty_one_are_refused(skips: ModuleType, tmp_path: Path) -> None:
    assert len(skips.complaints(tmp_path / "none.xml", LISTED)) == 1

    (tmp_path / "empty.xml").write_text("<testsuites><testsuite/></testsuites>")
    assert skips.complaints(tmp_path / "empty.xml", LISTED) == ["not one test was run"]


def test_the_known_reasons_are_few_and_each_can_be_checked(skips: ModuleType) -> None:
    known = skips.known_reasons((ROOT / ".ci" / "known-skips.txt").read_text())

    assert "no chromium on this machine" in known
    assert 0 < len(known) <= 6
    assert all(known.values())
