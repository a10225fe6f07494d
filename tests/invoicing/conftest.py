"""Fixtures of the invoicing tests."""

from pathlib import Path

import pytest

from tests.invoicing.month_end import MonthEnd
from tests.running_service import Service


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)
