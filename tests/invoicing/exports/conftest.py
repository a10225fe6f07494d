"""What tests of exports share."""

from pathlib import Path

import pytest
from argon2 import PasswordHasher

from nimbill.access import passwords
from tests.invoicing.month_end import MonthEnd
from tests.running_service import Service


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An organisation for every test; what a hash must cost is tested where it is made."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)
