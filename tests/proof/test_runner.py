"""The proof runner: a miss is red, an error is not run, a wrong reason does not catch a variant."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.proof import broken_variants
from tests.proof.board import BoardLine, run_row
from tests.proof.broken_variants import (
    GREEN,
    NOT_RUN,
    RED,
    BrokenVariant,
    run_variant,
)
from tests.proof.canaries import find_canaries, find_canaries_in_folder
from tests.proof.row import Measurement, ProofRow
from tests.proof.row_environment import RowEnvironment
from tests.proof.run_tests import PytestResult, run_tests

VARIANT = BrokenVariant(
    "name", "a fault", "the right reason", "foundation/ids.py", "not there", "nor here"
)


def row(measure: object, seconds_max: int = 60, variants: Sequence[BrokenVariant] = ()) -> ProofRow:
    return ProofRow("Z9", "A claim.", "a target", 1, 1, 1, seconds_max, measure, (), variants)  # type: ignore[arg-type]


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


def test_a_variant_is_caught_only_for_the_right_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def caught(code: int, output: str) -> bool:
        monkeypatch.setattr(broken_variants, "run_proof", lambda *_: (code, output))
        return run_variant("Z9", VARIANT, seed=1, seconds_max=1).caught

    assert caught(RED, "red for the right reason")
    assert not caught(RED, "red for another")
    assert not caught(GREEN, "the right reason")
    assert not caught(NOT_RUN, "the right reason")
    assert not caught(1, "the right reason")


def test_a_text_that_is_gone_is_reported_before_the_row_is_measured(
    environment: RowEnvironment,
) -> None:
    def measure(_environment: RowEnvironment, _size: int) -> Measurement:
        pytest.fail("the row was measured")

    stale = row(measure, variants=[VARIANT])
    line = run_row(stale, environment, size=1, variants=True, variant_seed=1)

    assert line.code == NOT_RUN
    assert "foundation/ids.py contains 0 times: not there" in line.error


def test_one_test_in_a_few_is_run(tmp_path: Path) -> None:
    (tmp_path / "test_ten.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('n', range(10))\n"
        "def test_ten(n):\n    assert n % 4 == 0\n"
    )

    ran = run_tests("test_ten.py", one_in=4, folder=tmp_path)

    assert (ran.passed, ran.failures) == (3, [])


def test_a_failing_test_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text("def test_wrong():\n    assert 1 == 2, 'no sum'\n")

    ran = run_tests("test_wrong.py", folder=tmp_path)

    assert ran.passed == 0
    assert ran.failures == ["test_wrong: AssertionError: no sum"]
    assert ran.misses(minimum=1) == ran.failures


def test_too_few_tests_are_a_miss(tmp_path: Path) -> None:
    (tmp_path / "test_few.py").write_text(
        "import pytest\n\n\ndef test_one():\n    pass\n\n\n"
        "@pytest.mark.skip('for no reason')\ndef test_two():\n    pass\n"
    )

    ran = run_tests("test_few.py", folder=tmp_path)

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
