"""Every row of the board holds at its quick size."""

import pytest

from tests.proof.row import Row, all_rows
from tests.proof.stage import ROOT, Stage

ROWS = all_rows()
HERE = [row for row in ROWS.values() if not row.inside]
ELSEWHERE = [row for row in ROWS.values() if row.inside]


@pytest.mark.parametrize("row", HERE, ids=lambda row: row.name)
def test_the_row_is_green(row: Row, stage: Stage) -> None:
    print(f"{row.name}: {row.target} Size {row.quick}, seed {stage.seed}")

    measured = row.measured(stage, row.quick)

    print(measured.said)
    assert measured.green, measured.shown()


@pytest.mark.parametrize("row", ELSEWHERE, ids=lambda row: row.name)
def test_a_row_that_is_a_test_file_already_names_one_that_is_there(row: Row) -> None:
    for name in row.inside:
        assert "def test_" in (ROOT / name).read_text(), name
