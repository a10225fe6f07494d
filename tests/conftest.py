"""What tests may ask for: a database server, databases on it, and the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from nimbill.database.embedded_postgres import Address, embedded_postgres, superuser_address
from nimbill.foundation.logs import configure_logs
from tests.own_database import own_database
from tests.running_service import Service, running_service

# Machines differ in speed, and what holds must hold on the slow ones too.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# Lines as in real life, but to wherever standard output goes at the moment.
configure_logs()
structlog.configure(**{**structlog.get_config(), "logger_factory": structlog.PrintLoggerFactory()})


LONGEST = ("[R1]", "test_twins", "test_rows", "test_runner", "test_cli", "demo")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first, so that in the end no process waits for another's last test."""
    items.sort(key=lambda item: [name not in item.nodeid for name in LONGEST])


@pytest.fixture(scope="session")
def postgres_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the embedded server of this run lives."""
    return tmp_path_factory.mktemp("database") / "postgres"


@pytest.fixture(scope="session")
def postgres(postgres_folder: Path) -> Iterator[Address]:
    """One embedded server for the whole run."""
    with embedded_postgres(postgres_folder) as address:
        yield address


@pytest.fixture(scope="session")
def superuser(postgres: Address, postgres_folder: Path) -> Address:
    """Whom no wall of the database stops: for tests that tamper or look behind the walls."""
    return superuser_address(postgres_folder)


@pytest.fixture
def empty_database(postgres: Address, superuser: Address) -> Iterator[Address]:
    """A database of the test's own, with nothing in it."""
    with own_database(postgres, superuser) as address:
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
