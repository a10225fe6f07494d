"""The environment for proof rows that run as tests."""

from collections.abc import Iterator

import pytest

from tests.proof.row_environment import QUICK_SEED, RowEnvironment


@pytest.fixture(scope="package")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RowEnvironment]:
    """One environment for all rows, with its own servers, because rows break things on purpose."""
    with RowEnvironment(tmp_path_factory.mktemp("proof"), QUICK_SEED) as environment:
        yield environment
