"""Fixtures of the tests of approvals."""

from __future__ import annotations

import pytest

from tests.approvals.office import Office
from tests.running_service import Service


@pytest.fixture
def office(service: Service) -> Office:
    return Office(service)
