"""A cloud, a service that launches there, and one that only simulates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.command_line import environment
from tests.jobs.conftest import frozen_clock, job_db, jobs_database
from tests.legacy.provisioning.cloud_server import Cloud, cloud_server
from tests.legacy.provisioning.life import Life, new_life
from tests.proof.real_server import RealServer, real_server

__all__ = ["frozen_clock", "jobs_database", "job_db"]  # for passes without a service


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    with cloud_server() as cloud:
        yield cloud


@pytest.fixture(scope="session")
def cloud_service(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    data = tmp_path_factory.mktemp("clouds") / "data"
    settings = {"NIMBILL_PROVISIONER": "aws", "NIMBILL_AWS_ENDPOINT_URL": cloud.url}
    with real_server(data, environment(data, **settings), workers=1) as server:
        yield server


@pytest.fixture(scope="session")
def laptop_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    data = tmp_path_factory.mktemp("laptops") / "data"
    with real_server(data, environment(data), workers=1) as server:
        yield server


@pytest.fixture
def life(cloud_service: RealServer) -> Life:
    """An organisation whose stacks are launched in the cloud."""
    return new_life(cloud_service)


@pytest.fixture
def simulated(laptop_service: RealServer) -> Life:
    """An organisation whose stacks are only simulated."""
    return new_life(laptop_service)
