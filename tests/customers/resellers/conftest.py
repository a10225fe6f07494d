"""What tests of reseller accounts share."""

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher

from nimbill.access import passwords
from tests.customers.billing_groups.stored import create
from tests.running_service import Service


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of passwords; what a hash must cost is tested where it is made."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", quick)


@pytest.fixture(autouse=True)
def no_cookies(running: Service) -> Iterator[None]:
    """A browser of its own for every test."""
    running.http.cookies.clear()
    yield
    running.http.cookies.clear()


@pytest.fixture
def company(service: Service) -> str:
    """A billing group for accounts to belong to."""
    return create(
        service,
        service.root(),
        billinggroup_id="BG-1",
        billinggroup_name="さくら商事",
        company_name="株式会社さくら商事",
    )
