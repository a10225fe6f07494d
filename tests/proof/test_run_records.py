"""The page of the proof board claims only what the records of full runs show."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.proof import run_records
from tests.proof.board import BoardLine
from tests.proof.broken_variants import BrokenVariant, VariantResult
from tests.proof.row import Measurement, ProofRow, load_rows
from tests.proof.run_records import BOARD, PAGE, README, RunRecord

RECORD = RunRecord(
    date="2026-11-18",
    commit="0123456789",
    machine="2 cores",
    size=10,
    seed=7,
    seconds=90,
    green=True,
    variants_caught=0,
    measured="10 tried: 0 wrong",
)


VARIANT = BrokenVariant("name", "A fault.", "words", "foundation/ids.py", "old", "new")


def build_row(
    name: str = "Z9",
    *,
    full: int = 10,
    variants: tuple[BrokenVariant, ...] = (),
    missing: tuple[str, ...] = (),
) -> ProofRow:
    def measure(_environment: object, size: int) -> Measurement:
        return Measurement(f"{size} tried")

    return ProofRow(name, "A claim.", "a target", 1, 1, full, 60, measure, (), variants, missing)


def test_the_board_has_38_rows() -> None:
    assert len(BOARD) == len(set(BOARD)) == 38
    assert set(load_rows()) <= set(BOARD)


def test_the_page_shows_the_records() -> None:
    """A full run writes the page; `python -m tests.proof --page` writes it without one."""
    expected = run_records.format_table(load_rows(), run_records.read_records())

    assert run_records.read_page_table(PAGE.read_text()) == expected


def test_the_readme_states_how_many_rows_count() -> None:
    expected = run_records.count_rows(load_rows(), run_records.read_records())

    assert run_records.read_number(README.read_text()) == expected


def test_only_the_number_of_the_readme_is_replaced() -> None:
    text = "# Name\n<!-- proof -->1 of 38 rows<!-- end of proof --> count.\n"

    assert run_records.replace_number(text, "38 of 38 rows") == text.replace("1 of", "38 of")


@pytest.mark.parametrize(
    ("row", "record", "reason"),
    [
        (build_row(), None, "no full run is recorded"),
        (build_row(), replace(RECORD, green=False), "the run was not green"),
        (build_row(), replace(RECORD, size=9), "size 9 instead of 10"),
        (build_row(missing=("the moon",)), RECORD, "the moon"),
        (build_row(variants=(VARIANT,)), RECORD, "0 of 1 variants caught"),
    ],
)
def test_a_row_counts_only_with_a_full_and_complete_run(
    row: ProofRow, record: RunRecord | None, reason: str
) -> None:
    line = run_records.format_line(row.name, row, record)

    assert not run_records.counts(row, record)
    assert line.startswith(f"| {row.name} | no |")
    assert reason in line


def test_a_row_with_a_full_green_run_counts() -> None:
    assert run_records.counts(build_row(), RECORD)
    assert run_records.format_line("Z9", build_row(), RECORD).startswith("| Z9 | yes |")


def test_a_row_that_does_not_exist_does_not_count() -> None:
    assert run_records.format_line("X2", None, None) == "| X2 | no | | | the row does not exist |"


def test_a_run_replaces_the_record_of_its_row(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    row = build_row("S1")
    for tried in (5, 10):
        line = BoardLine(row, Measurement(f"{tried} tried"), seconds=1.6)
        run_records.keep_record(line, size=tried, seed=3, path=path)
    (record,) = run_records.read_records(path).values()

    assert (record.size, record.seed, record.seconds, record.green) == (10, 3, 2, True)
    assert record.measured == "10 tried"


def test_variants_that_are_run_again_are_added_to_the_record(tmp_path: Path) -> None:
    path, row = tmp_path / "records.json", build_row("S1", variants=(VARIANT,))
    missed = [VariantResult(VARIANT, False, "green")]
    full_run = BoardLine(row, Measurement("10 tried"), variants=missed)
    run_records.keep_record(full_run, size=10, seed=3, path=path)
    before = run_records.read_records(path)["S1"]
    mended = [VariantResult(VARIANT, True, "")]

    kept = run_records.keep_variants(BoardLine(row, variants=mended), path)
    after = run_records.read_records(path)["S1"]

    table_line = run_records.format_line("S1", row, after)
    assert kept
    assert (before.green, run_records.counts(row, before)) == (True, False)
    assert (after.measured, run_records.counts(row, after)) == ("10 tried", True)
    assert f"; variants again at {after.variants_commit}" in table_line


def test_variants_alone_make_no_record(tmp_path: Path) -> None:
    path = tmp_path / "records.json"

    assert not run_records.keep_variants(BoardLine(build_row("S1")), path)
    assert not path.exists()


def test_a_row_that_was_not_green_does_not_count_after_its_variants_were_run_again(
    tmp_path: Path,
) -> None:
    path, row = tmp_path / "records.json", build_row("S1", variants=(VARIANT,))
    red = BoardLine(row, Measurement("10 tried", ["one was wrong"]))
    run_records.keep_record(red, size=10, seed=3, path=path)
    mended = [VariantResult(VARIANT, True, "")]

    run_records.keep_variants(BoardLine(row, variants=mended), path)

    assert not run_records.counts(row, run_records.read_records(path)["S1"])


def test_the_rows_that_fit_are_the_shortest() -> None:
    rows = [build_row(name) for name in ("X1", "X2", "X3", "X4")]
    seconds = {"X1": 100, "X2": 40, "X3": 20}  # nobody knows how long X4 takes
    records = {name: replace(RECORD, seconds=each) for name, each in seconds.items()}

    chosen = run_records.choose_fitting(rows, records, minutes=1)

    assert [row.name for row in chosen] == ["X3", "X2"]
