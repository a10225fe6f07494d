"""Fixtures for tests that use an object store."""

import os
from collections.abc import Iterator

import pytest

from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store


@pytest.fixture(scope="session")
def store() -> Iterator[ObjectStore]:
    """One server for the whole run; tests use buckets of their own."""
    with object_store() as server:
        yield server


@pytest.fixture
def store_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
