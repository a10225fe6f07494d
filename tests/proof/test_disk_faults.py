"""Some calls of the disk fail during imports, exports and reading; proof row X9 lets all fail."""

from __future__ import annotations

import gc

import pytest

from tests.proof.disk_faults import fail_each_disk_call, importer_on_disk
from tests.proof.row import NotPossibleHere
from tests.proof.row_environment import RowEnvironment

STEP = 90


# A writer of Arrow whose file cannot be closed tries it again when it is deleted.
@pytest.mark.filterwarnings("ignore:.*ParquetWriter:pytest.PytestUnraisableExceptionWarning")
def test_any_call_of_the_disk_may_fail(environment: RowEnvironment) -> None:
    try:
        with importer_on_disk(environment) as (disk, importer):
            faults = fail_each_disk_call(disk, importer, step=STEP)
    except NotPossibleHere as reason:
        pytest.skip(str(reason))
    gc.collect()

    assert faults.misses == []
    assert faults.calls > 4
