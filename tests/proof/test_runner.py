"""The proof runner: a miss is red, an error is not run, a wrong reason does not catch a variant."""

import os
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.proof import broken_variants
from tests.proof.board import BoardLine, run_row
from tests.proof.broken_variants import (
    GREEN,
    NOT_RUN,
    RED,
    BrokenVariant,
    StalePatch,
    apply_patch,
    copy_project,
    run_variant,
)
from tests.proof.canaries import find_canaries, find_canaries_in_folder
from tests.proof.row import Measurement, ProofRow
from tests.proof.row_environment import RowEnvironment
from tests.proof.run_tests import PytestResult, run_tests

VARIANT = BrokenVariant("Z9", "name", Path("Z9-name.patch"), "a fault", "the right reason")


def row(measure: object, seconds_max: int = 60) -> ProofRow:
    return ProofRow("Z9", "A claim.", "a target", 1, 1, seconds_max, measure, ())  # type: ignore[arg-type]


def run(measure: object, environment: RowEnvironment, seconds_max: int = 60) -> BoardLine:
    return run_row(row(measure, seconds_max), environment, size=1, variants=False, variant_seed=1)


def test_a_row_without_a_miss_is_green(environment: RowEnvironment) -> None:
    line = run(lambda _stage, size: Measurement(f"{size} tried"), environment)

    assert line.code == GREEN
    assert "1 tried" in line.format()


def test_a_row_with_a_miss_is_red_and_reports_it(environment: RowEnvironment) -> None:
    line = run(lambda _stage, _size: Measurement("some tried", ["it leaked"]), environment)

    assert line.code == RED
    assert "!! it leaked" in line.format()


def test_a_row_that_raises_counts_as_not_run(environment: RowEnvironment) -> None:
    line = run(lambda _stage, _size: 1 // 0, environment)

    assert line.code == NOT_RUN
    assert "ZeroDivisionError" in line.format()


def test_a_row_that_hangs_is_stopped_by_its_watchdog(environment: RowEnvironment) -> None:
    line = run(lambda _stage, _size: time.sleep(30), environment, seconds_max=1)

    assert line.code == RED
    assert "watchdog" in line.format()


def test_a_variant_is_caught_only_for_the_right_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken_variants, "copy_project", lambda: nullcontext(tmp_path))
    monkeypatch.setattr(broken_variants, "apply_patch", lambda *_: None)

    def caught(code: int, output: str) -> bool:
        monkeypatch.setattr(broken_variants, "run_proof_in", lambda *_: (code, output))
        return run_variant(VARIANT, seed=1, seconds_max=1).caught

    assert caught(RED, "red for the right reason")
    assert not caught(RED, "red for another")
    assert not caught(GREEN, "the right reason")
    assert not caught(NOT_RUN, "the right reason")
    assert not caught(1, "the right reason")


def write_stale_patch(folder: Path) -> Path:
    stale = folder / "Z9-stale.patch"
    stale.write_text(
        "A fault.\nSeen as: words\n"
        "diff --git a/src/nimbill/foundation/ids.py b/src/nimbill/foundation/ids.py\n"
        "--- a/src/nimbill/foundation/ids.py\n+++ b/src/nimbill/foundation/ids.py\n"
        "@@ -1 +1 @@\n-not there\n+nor here\n"
    )
    return stale


def test_a_patch_that_does_not_apply_is_an_error(tmp_path: Path) -> None:
    stale = write_stale_patch(tmp_path)

    with copy_project() as copy, pytest.raises(StalePatch, match="no longer applies"):
        apply_patch(copy, stale)


def test_a_patch_that_does_not_apply_is_reported_before_the_row_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: RowEnvironment
) -> None:
    monkeypatch.setattr(broken_variants, "VARIANTS", tmp_path)
    write_stale_patch(tmp_path)

    def measure(_environment: RowEnvironment, _size: int) -> Measurement:
        pytest.fail("the row was measured")

    line = run_row(row(measure), environment, size=1, variants=True, variant_seed=1)

    assert line.code == NOT_RUN
    assert "no longer applies" in line.error


def test_a_patch_names_its_fault_and_the_expected_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken_variants, "VARIANTS", tmp_path)
    (tmp_path / "Z9-incomplete.patch").write_text("A fault.\ndiff --git a/x b/x\n")

    with pytest.raises(ValueError, match="Seen as"):
        broken_variants.variants_of("Z9")


def test_a_copy_runs_its_own_sources_or_a_part_of_its_tests(tmp_path: Path) -> None:
    with copy_project() as copy:
        (copy / "tests" / "test_where.py").write_text(
            '"""Where the sources are."""\n\nimport nimbill\n\n\n'
            f"def test_where() -> None:\n    assert nimbill.__file__.startswith({str(copy)!r})\n"
        )
        (copy / "tests" / "test_ten.py").write_text(
            '"""Ten tests."""\n\nimport pytest\n\n\n@pytest.mark.parametrize("n", range(10))\n'
            "def test_ten(n: int) -> None:\n    assert n % 4 == 0\n"
        )
        ran = run_tests(copy, "tests/test_where.py")
        fourth = run_tests(copy, "tests/test_ten.py", one_in=4)

    assert ran.passed == 1
    assert ran.failures == []
    assert (fourth.passed, fourth.failures) == (3, [])


def test_a_failing_test_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text("def test_wrong():\n    assert 1 == 2, 'no sum'\n")

    ran = run_tests(tmp_path, "test_wrong.py")

    assert ran.passed == 0
    assert ran.failures == ["test_wrong: AssertionError: no sum"]
    assert ran.misses(minimum=1) == ran.failures


def test_too_few_tests_are_a_miss(tmp_path: Path) -> None:
    (tmp_path / "test_few.py").write_text(
        "import pytest\n\n\ndef test_one():\n    pass\n\n\n"
        "@pytest.mark.skip('for no reason')\ndef test_two():\n    pass\n"
    )

    ran = run_tests(tmp_path, "test_few.py")

    assert (ran.passed, ran.skipped, ran.failures) == (1, 1, [])
    assert ran.misses(minimum=1) == ["1 tests passed, 1 were skipped, 1 expected"]
    assert PytestResult(2, []).misses(minimum=2) == []
    assert PytestResult(1, []).misses(minimum=2)


def test_a_canary_is_found_in_every_encoding(tmp_path: Path) -> None:
    """Plain, hexadecimal, and base64 at each of its three alignments."""
    canary, other = "kn0123456789abcdef", "kn1111111111111111"
    hays = [
        "kn0123456789abcdef",
        "6b6e30313233343536373839616263646566",
        "a24wMTIzNDU2Nzg5YWJjZGVm",
        "eGtuMDEyMzQ1Njc4OWFiY2RlZnp6",  # preceded by "x", followed by "zz"
        "eHlrbjAxMjM0NTY3ODlhYmNkZWZ6",  # preceded by "xy", followed by "z"
    ]
    for number, hay in enumerate(hays):
        assert find_canaries(f"before {hay} after".encode(), [canary, other]) == {canary}, hay
        (tmp_path / str(number)).write_text(hay)

    assert len(list(find_canaries_in_folder(tmp_path, [canary, other]))) == len(hays)
    assert find_canaries(b"nothing of the kind", [canary, other]) == set()


def test_a_copy_leaves_out_the_data_of_a_running_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken_variants, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kept.py").write_text("")
    (tmp_path / ".nimbill-demo").mkdir()
    (tmp_path / ".nimbill-demo" / "demo.json").write_text("{}")
    os.mkfifo(tmp_path / "src" / "pipe")

    with broken_variants.copy_project() as copy:
        copied = sorted(str(path.relative_to(copy)) for path in copy.rglob("*"))

    assert copied == ["src", "src/kept.py"]
