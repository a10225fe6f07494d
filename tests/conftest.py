"""What tests may ask for: a database server, and the service on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nimbill.embedded_postgres import Address, embedded_postgres
from tests.running_service import Service, running_service


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """One embedded server for the whole run."""
    with embedded_postgres(tmp_path_factory.mktemp("database") / "postgres") as address:
        yield address


@pytest.fixture(scope="session")
def running(postgres: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the whole run; ask for `service` instead."""
    data: Path = tmp_path_factory.mktemp("data")
    with running_service(postgres.url, data) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Service:
    """The service with an organisation of the test's own, so that tests never meet."""
    running.organisation = running.new_organisation()
    return running
