"""What tests of logging in share."""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from nimbill.access import passwords
from tests.running_service import Service


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of logins; what a hash must cost is a matter of tests/access/test_passwords.py."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)


@pytest.fixture(autouse=True)
def no_cookies(running: Service) -> Iterator[None]:
    """A browser of its own for every test."""
    running.http.cookies.clear()
    yield
    running.http.cookies.clear()
