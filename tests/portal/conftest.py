"""Fixtures of the tests of the portal."""

from pathlib import Path

import pytest

from tests.customers.resellers.reseller_accounts import company
from tests.portal.portal_customer import PortalCustomer, create_customer
from tests.portal.portal_scene import scene
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service, clear_cookies

__all__ = ["clear_cookies", "company", "scene", "use_quick_hashes"]


@pytest.fixture
def customer(service: Service, tmp_path: Path) -> PortalCustomer:
    return create_customer(service, tmp_path)
