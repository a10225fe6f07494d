"""Each disk of the service is full once and free again; proof row X8 repeats it."""

from __future__ import annotations

import pytest

from tests.proof.full_disks import CYCLES, full_disks
from tests.proof.row import NotPossibleHere
from tests.proof.row_environment import RowEnvironment


def test_a_full_disk_refuses_and_loses_nothing(environment: RowEnvironment) -> None:
    try:
        with full_disks(environment) as disks:
            for name in CYCLES:
                disks.run_cycle(name)
    except NotPossibleHere as reason:
        pytest.skip(str(reason))

    assert disks.misses == []
    assert disks.statuses[503] >= len(CYCLES) - 1  # the log refuses nothing
