"""Fixtures of the invoicing tests."""

from pathlib import Path

import pytest

from tests.invoicing.month_end import MonthEnd
from tests.running_service import Service


@pytest.fixture(scope="module")
def shared_month_end(running: Service, tmp_path_factory: pytest.TempPathFactory) -> MonthEnd:
    """One organisation for all tests of a module, which must not use `service` beside it."""
    running.organisation = running.new_organisation()
    return MonthEnd(running, tmp_path_factory.mktemp("costs"))


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)
