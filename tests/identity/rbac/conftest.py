"""Fixtures of the tests of access control."""

import pytest

from tests.identity.rbac.stored_groups import insert_groups
from tests.quick_hashes import use_quick_hashes
from tests.running_service import Service

__all__ = ["use_quick_hashes"]  # an autouse fixture


@pytest.fixture
def service(service: Service) -> Service:
    """The service with a new organisation that has the billing groups of the filters."""
    insert_groups(service, ["cmp_a", "cmp_b", "cmp_c"])
    return service
