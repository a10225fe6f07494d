"""Fixtures for all tests: a database server, databases on it, and a running service."""

import atexit
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from nimbill.database.embedded_postgres import Address, embedded_postgres, superuser_address
from nimbill.foundation.logs import configure_logs
from tests.invoicing.month_end import MonthEnd
from tests.lock_order import events_come_before_audit_entries
from tests.running_service import Service, running_service
from tests.temporary_database import execute_sql, temporary_database

if TYPE_CHECKING:
    from tests.process_scheduling import SharedFixtureScheduling

# No deadlines: tests must also pass on slow machines. The proof board tries many more examples.
settings.register_profile(
    "any machine",
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")

# Log as in production, but to the current standard output, which pytest captures.
configure_logs()
structlog.configure(**{**structlog.get_config(), "logger_factory": structlog.PrintLoggerFactory()})


def pytest_sessionstart() -> None:
    """Collecting tests creates no garbage to speak of; looking for it took a tenth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for reference cycles rarely: a seventh of the time of the API tests went into it."""
    gc.collect()
    gc.freeze()  # the collected tests stay until the end
    atexit.register(gc.unfreeze)  # libraries report objects that are never released
    gc.set_threshold(500_000, 20, 100)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Any
) -> "SharedFixtureScheduling | None":
    """Keep folders together that share much; see `test-browser` in the Makefile."""
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.process_scheduling import SharedFixtureScheduling  # not every environment has xdist

    return SharedFixtureScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def lock_order() -> Iterator[None]:
    with events_come_before_audit_entries():
        yield


@pytest.fixture(scope="session")
def postgres_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the embedded server of this run."""
    return tmp_path_factory.mktemp("database") / "postgres"


@pytest.fixture(scope="session")
def postgres(postgres_folder: Path) -> Iterator[Address]:
    """One embedded server for the whole run. A commit does not wait for the disk."""
    with embedded_postgres(postgres_folder) as address:
        superuser = superuser_address(postgres_folder)
        execute_sql(superuser, f"ALTER ROLE {address.user} SET synchronous_commit = off")
        yield address


@pytest.fixture(scope="session")
def superuser(postgres: Address, postgres_folder: Path) -> Address:
    """An account that bypasses row-level security, to tamper with rows or read all of them."""
    return superuser_address(postgres_folder)


@pytest.fixture
def empty_database(postgres: Address, superuser: Address) -> Iterator[Address]:
    """A new, empty database."""
    with temporary_database(postgres, superuser) as address:
        yield address


@pytest.fixture(scope="session")
def running(postgres: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the whole run. Tests use `service`."""
    data: Path = tmp_path_factory.mktemp("data")
    with running_service(postgres.url, data) as service:
        yield service


@pytest.fixture
def service(running: Service) -> Service:
    """The service with a new organisation, so that tests are independent."""
    running.organisation = running.new_organisation()
    return running


@pytest.fixture(scope="module")
def shared_month_end(running: Service, tmp_path_factory: pytest.TempPathFactory) -> MonthEnd:
    """One organisation for all tests of a module, which must not use `service` beside it."""
    running.organisation = running.new_organisation()
    return MonthEnd(running, tmp_path_factory.mktemp("costs"))


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)
