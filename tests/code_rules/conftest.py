"""Fixtures for the rules of the code."""

from collections.abc import Iterator

import pytest

from tests.code_rules import rules


@pytest.fixture(scope="module", autouse=True)
def parsed_files() -> Iterator[None]:
    """Forget the parsed files after each module: looking for garbage among them takes seconds."""
    yield
    rules.parse.cache_clear()
