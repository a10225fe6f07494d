"""Fixtures of the tests of the portal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.customers.resellers.reseller_accounts import company
from tests.portal.daily_costs import create_customer_with_daily_costs, fix_today
from tests.portal.portal_customer import PortalCustomer, create_customer
from tests.portal.portal_scene import scene
from tests.quick_hashes import quick_hashes, use_quick_hashes
from tests.running_service import Service, clear_cookies

__all__ = ["clear_cookies", "company", "scene", "use_quick_hashes"]


@pytest.fixture
def customer(service: Service, tmp_path: Path) -> PortalCustomer:
    return create_customer(service, tmp_path)


@pytest.fixture(scope="session")
def shared_daily_customer(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> PortalCustomer:
    with quick_hashes():
        return create_customer_with_daily_costs(running, tmp_path_factory.mktemp("daily_costs"))


@pytest.fixture
def daily_customer(shared_daily_customer: PortalCustomer) -> Iterator[PortalCustomer]:
    """Usage on every day; the current day is 16 September 2026. Tests do not change its costs."""
    with fix_today():
        yield shared_daily_customer
