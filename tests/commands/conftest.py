"""Fixtures of the tests of commands."""

from __future__ import annotations

import pytest

from tests.commands.organisation_commands import OrganisationCommands
from tests.running_service import Service


@pytest.fixture
def commands(service: Service) -> OrganisationCommands:
    return OrganisationCommands(service)
