"""Fixtures of the tests of reports by tag."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.portal.portal_customer import PortalCustomer
from tests.portal.tags.tagged_customer import create_tagged_customer
from tests.quick_hashes import quick_hashes
from tests.running_service import Service


@pytest.fixture(scope="module")
def tagged_data(
    running: Service, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PortalCustomer]:
    """One customer for all tests of a file; they only read."""
    running.organisation = running.new_organisation()
    folder: Path = tmp_path_factory.mktemp("tagged")
    with quick_hashes():
        yield create_tagged_customer(running, folder)


@pytest.fixture
def customer(tagged_data: PortalCustomer) -> PortalCustomer:
    return tagged_data
