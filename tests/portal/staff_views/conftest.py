"""A customer with a portal login."""

from __future__ import annotations

import pytest

from tests.customers.resellers.reseller_accounts import (
    Reseller,
    create_reseller,
)
from tests.running_service import Service


@pytest.fixture
def reseller(service: Service, company: str) -> Reseller:
    return create_reseller(service, company, meta={"invoice": True, "users_management": True})
