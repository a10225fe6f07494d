"""The stage for proof rows that run as tests."""

from collections.abc import Iterator

import pytest

from tests.proof.stage import QUICK_SEED, Stage


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One stage for all rows, with its own servers, because rows break things on purpose."""
    with Stage(tmp_path_factory.mktemp("proof"), QUICK_SEED) as stage:
        yield stage
