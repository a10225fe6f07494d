"""What tests of exports share."""

from pathlib import Path

import pytest

from tests.invoicing.month_end import MonthEnd
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service

__all__ = ["use_quick_hashes"]  # autouse fixtures


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)
