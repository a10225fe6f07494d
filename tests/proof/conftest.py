"""The environment for proof rows that run as tests."""

from collections.abc import Iterator

import pytest

from tests.proof.row_environment import QUICK_SEED, RowEnvironment

# The longest tests with their weights, about their seconds on a busy machine. Others are shorter.
LONG_TESTS = {
    "test_the_row_is_green[R1]": 288,
    "test_the_row_is_green[X1]": 104,
    "test_the_row_is_green[I2]": 70,
    "test_the_row_is_green[R3]": 64,
    "test_the_row_is_green[R2]": 56,
    "test_the_row_is_green[D2]": 41,
    "test_the_row_is_green[O2]": 40,
    "test_the_row_is_green[T6]": 34,
    "test_the_row_is_green[X5]": 27,
    "test_the_row_is_green[X4]": 26,
    "test_the_row_is_green[S1]": 24,
    "test_the_row_is_green[X3]": 19,
    "test_the_row_is_green[D1]": 18,
    "test_the_row_is_green[X7]": 17,
    "test_the_row_is_green[X6]": 15,
    "test_the_row_is_green[T3]": 14,
    "test_the_row_is_green[O1]": 13,
    "test_the_row_is_green[T2]": 13,
    "test_the_row_is_green[T8]": 13,
    "test_the_row_is_green[D3]": 12,
    "test_the_row_is_green[A2]": 12,
    "test_the_row_is_green[T4]": 11,
    "test_the_row_is_green[D6]": 10,
    "test_the_row_is_green[A1]": 10,
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
