"""The environment for proof rows that run as tests."""

from collections.abc import Iterator

import pytest

from tests.proof.row_environment import QUICK_SEED, RowEnvironment

# The longest tests with their weights, the CPU seconds that they use. Others use fewer.
LONG_TESTS = {
    "test_the_row_is_green[R1]": 50,
    "test_the_row_is_green[R3]": 28,
    "test_the_row_is_green[O2]": 17,
    "test_the_row_is_green[R2]": 16,
    "test_the_row_is_green[I2]": 13,
    "test_the_row_is_green[X3]": 12,
    "test_the_row_is_green[D2]": 12,
    "test_the_row_is_green[S1]": 11,
    "test_the_row_is_green[X7]": 11,
    "test_the_row_is_green[X1]": 11,
    "test_the_row_is_green[X5]": 10,
}
SHORT_TEST = "test_every_row_has_variants_with_names_of_their_own"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, so that no process works alone at the end.

    The process that runs the first test also gets the second, which no other can take over.
    Therefore the second is a short one.
    """
    items.sort(key=lambda item: -LONG_TESTS.get(item.name, 0))
    names = [item.name for item in items]
    if SHORT_TEST in names and len(items) > 1:
        items.insert(1, items.pop(names.index(SHORT_TEST)))


@pytest.fixture(scope="package")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RowEnvironment]:
    """One environment for all rows, with its own servers, because rows break things on purpose."""
    with RowEnvironment(tmp_path_factory.mktemp("proof"), QUICK_SEED) as environment:
        yield environment
