"""The stage on which rows run inside the tests."""

from collections.abc import Iterator

import pytest

from tests.proof.stage import QUICK_SEED, Stage


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for all rows, with servers of its own: rows break things on purpose."""
    with Stage(tmp_path_factory.mktemp("proof"), QUICK_SEED) as made:
        yield made
