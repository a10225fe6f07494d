"""Fixtures of the tests of approvals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.approvals.office import Office
from tests.invoicing.month_end import MonthEnd
from tests.running_service import Service


@pytest.fixture
def office(service: Service) -> Office:
    return Office(service)


@pytest.fixture
def month_end(office: Office, tmp_path: Path) -> MonthEnd:
    return MonthEnd(office.service, tmp_path)
