"""Every row of the proof board is green in its shortest size."""

import pytest

from tests.proof.row import NotPossibleHere, ProofRow, load_rows
from tests.proof.row_environment import ROOT, RowEnvironment

ROWS = load_rows()
MEASURED_HERE = [row for row in ROWS.values() if not row.inside]
MEASURED_BY_TEST_FILES = [row for row in ROWS.values() if row.inside]


@pytest.mark.parametrize("row", MEASURED_HERE, ids=lambda row: row.name)
def test_the_row_is_green(row: ProofRow, environment: RowEnvironment) -> None:
    print(f"{row.name}: {row.target} Size {row.short}, seed {environment.seed}")

    try:
        measurement = row.run(environment, row.short)
    except NotPossibleHere as reason:
        pytest.skip(str(reason))

    print(measurement.figures)
    assert measurement.green, measurement.format_misses()


@pytest.mark.parametrize("row", MEASURED_BY_TEST_FILES, ids=lambda row: row.name)
def test_a_row_made_of_test_files_names_existing_ones(row: ProofRow) -> None:
    for name in row.inside:
        assert "def test_" in (ROOT / name).read_text(), name
