"""What tests of access control share."""

import pytest
from argon2 import PasswordHasher

from nimbill.access import passwords


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An organisation for every test; what a hash must cost is tested where it is made."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)
