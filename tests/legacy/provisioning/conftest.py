"""A simulated EC2, a service that launches instances there, and one that simulates instances."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from nimbill.database.embedded_postgres import Address
from nimbill.legacy.provisioning import finish_pass, local_provisioner
from tests.jobs.conftest import frozen_clock, job_db, jobs_database
from tests.legacy.http_server import ServiceBridge, run_service_bridge
from tests.legacy.provisioning.cloud_server import Cloud, cloud_server
from tests.legacy.provisioning.stack_user import StackUser, create_stack_user
from tests.running_service import running_service
from tests.temporary_database import temporary_database

SHORT_PAUSE = timedelta(seconds=0.05)  # between passes

__all__ = ["frozen_clock", "job_db", "jobs_database"]


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    with cloud_server() as cloud:
        yield cloud


@contextmanager
def run_bridged_service(
    postgres: Address, superuser: Address, data: Path, **settings: str
) -> Iterator[ServiceBridge]:
    """Run a service with a database of its own and an address at which agents reach it."""
    with (
        run_service_bridge() as bridge,
        temporary_database(postgres, superuser) as database,
        running_service(
            database.url, data, NIMBILL_LISTENS_AT=bridge.url, **settings
        ) as bridge.service,
    ):
        yield bridge


@pytest.fixture(scope="session")
def cloud_bridge(
    cloud: Cloud,
    postgres: Address,
    superuser: Address,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServiceBridge]:
    settings = {"NIMBILL_PROVISIONER": "aws", "NIMBILL_AWS_ENDPOINT_URL": cloud.url}
    data = tmp_path_factory.mktemp("cloud")
    with run_bridged_service(postgres, superuser, data, **settings) as bridge:
        yield bridge


@pytest.fixture(scope="session")
def local_bridge(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServiceBridge]:
    data = tmp_path_factory.mktemp("local")
    with run_bridged_service(postgres, superuser, data) as bridge:
        yield bridge


@pytest.fixture
def cloud_user(cloud_bridge: ServiceBridge, monkeypatch: pytest.MonkeyPatch) -> StackUser:
    """A user whose stacks are launched in the simulated EC2."""
    monkeypatch.setattr(finish_pass, "PAUSE_MIN", SHORT_PAUSE)
    return create_stack_user(cloud_bridge)


@pytest.fixture
def local_user(local_bridge: ServiceBridge, monkeypatch: pytest.MonkeyPatch) -> StackUser:
    """A user whose stacks are simulated, with agents that reach the service."""
    monkeypatch.setattr(local_provisioner, "TIMEOUT_SECONDS", 5.0)
    monkeypatch.setattr(finish_pass, "PAUSE_MIN", SHORT_PAUSE)
    return create_stack_user(local_bridge)
