"""The runner is honest: what is missed is red, what breaks is not run, a wrong reason no catch."""

import time
from pathlib import Path

import pytest

from tests.proof import broken_variants
from tests.proof.board import Line, run_row
from tests.proof.broken_variants import (
    GREEN,
    NOT_RUN,
    RED,
    StalePatch,
    Twin,
    apply_patch,
    copy_of_project,
    run_twin,
)
from tests.proof.canaries import found_in, found_in_folder
from tests.proof.row import Measured, Row
from tests.proof.run_tests import Ran, run_tests
from tests.proof.stage import Stage

TWIN = Twin("Z9", "what", Path("Z9-what.patch"), "a story", "the right reason")


def row(measure: object, seconds_max: int = 60) -> Row:
    return Row("Z9", "A claim.", "a target", 1, 1, seconds_max, measure, ())  # type: ignore[arg-type]


def run(measure: object, stage: Stage, seconds_max: int = 60) -> Line:
    return run_row(row(measure, seconds_max), stage, size=1, twins=False, twin_seed=1)


def test_a_row_without_a_miss_is_green(stage: Stage) -> None:
    line = run(lambda _stage, size: Measured(f"{size} tried"), stage)

    assert line.code == GREEN
    assert "1 tried" in line.shown()


def test_a_row_with_a_miss_is_red_and_says_it(stage: Stage) -> None:
    line = run(lambda _stage, _size: Measured("some tried", ["it leaked"]), stage)

    assert line.code == RED
    assert "!! it leaked" in line.shown()


def test_a_row_that_breaks_counts_as_not_run(stage: Stage) -> None:
    line = run(lambda _stage, _size: 1 // 0, stage)

    assert line.code == NOT_RUN
    assert "ZeroDivisionError" in line.shown()


def test_a_row_that_hangs_is_bitten_by_its_watchdog(stage: Stage) -> None:
    line = run(lambda _stage, _size: time.sleep(30), stage, seconds_max=1)

    assert line.code == RED
    assert "watchdog" in line.shown()


def test_a_twin_must_be_seen_for_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken_variants, "apply_patch", lambda *_: None)

    def caught(code: int, said: str) -> bool:
        monkeypatch.setattr(broken_variants, "run_in", lambda *_: (code, said))
        return run_twin(TWIN, seed=1, seconds_max=1).caught

    assert caught(RED, "red for the right reason")
    assert not caught(RED, "red for another")
    assert not caught(GREEN, "the right reason")
    assert not caught(NOT_RUN, "the right reason")
    assert not caught(1, "the right reason")


def test_a_patch_that_does_not_apply_is_an_error(tmp_path: Path) -> None:
    stale = tmp_path / "Z9-stale.patch"
    stale.write_text(
        "A story.\nSeen as: words\n"
        "diff --git a/src/nimbill/foundation/ids.py b/src/nimbill/foundation/ids.py\n"
        "--- a/src/nimbill/foundation/ids.py\n+++ b/src/nimbill/foundation/ids.py\n"
        "@@ -1 +1 @@\n-not there\n+nor here\n"
    )

    with copy_of_project() as copy, pytest.raises(StalePatch, match="does not apply any more"):
        apply_patch(copy, stale)


def test_a_patch_says_what_it_breaks_and_how_that_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken_variants, "TWINS", tmp_path)
    (tmp_path / "Z9-mute.patch").write_text("A story.\ndiff --git a/x b/x\n")

    with pytest.raises(ValueError, match="Seen as"):
        broken_variants.twins_of("Z9")


def test_a_copy_runs_its_own_sources(tmp_path: Path) -> None:
    with copy_of_project() as copy:
        (copy / "tests" / "test_where.py").write_text(
            '"""Where the sources are."""\n\nimport nimbill\n\n\n'
            f"def test_where() -> None:\n    assert nimbill.__file__.startswith({str(copy)!r})\n"
        )
        ran = run_tests(copy, "tests/test_where.py")

    assert ran.passed == 1
    assert ran.failures == []


def test_a_failing_test_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text("def test_wrong():\n    assert 1 == 2, 'no sum'\n")

    ran = run_tests(tmp_path, "test_wrong.py")

    assert ran.passed == 0
    assert ran.failures == ["test_wrong: AssertionError: no sum"]
    assert ran.misses(fewest=1) == ran.failures


def test_where_next_to_nothing_was_run_nothing_holds(tmp_path: Path) -> None:
    (tmp_path / "test_few.py").write_text(
        "import pytest\n\n\ndef test_one():\n    pass\n\n\n"
        "@pytest.mark.skip('for no reason')\ndef test_two():\n    pass\n"
    )

    ran = run_tests(tmp_path, "test_few.py")

    assert (ran.passed, ran.skipped, ran.failures) == (1, 1, [])
    assert ran.misses(fewest=1) == ["only 1 cases were run and 1 skipped, 1 expected"]
    assert Ran(2, []).misses(fewest=2) == []
    assert Ran(1, []).misses(fewest=2)


def test_a_canary_is_found_in_every_spelling(tmp_path: Path) -> None:
    """As it is, in hexadecimal, and in base64 wherever it stands in its groups of three."""
    canary, other = "kn0123456789abcdef", "kn1111111111111111"
    hays = [
        "kn0123456789abcdef",
        "6b6e30313233343536373839616263646566",
        "a24wMTIzNDU2Nzg5YWJjZGVm",
        "eGtuMDEyMzQ1Njc4OWFiY2RlZnp6",  # "x" before it, "zz" after it
        "eHlrbjAxMjM0NTY3ODlhYmNkZWZ6",  # "xy" before it, "z" after it
    ]
    for number, hay in enumerate(hays):
        assert found_in(f"before {hay} after".encode(), [canary, other]) == {canary}, hay
        (tmp_path / str(number)).write_text(hay)

    assert len(list(found_in_folder(tmp_path, [canary, other]))) == len(hays)
    assert found_in(b"nothing of the kind", [canary, other]) == set()
