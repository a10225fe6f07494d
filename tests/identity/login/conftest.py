"""What tests of logging in share."""

from collections.abc import Iterator

import pytest

from tests.quick_hashes import quick_hashes
from tests.running_service import Service


@pytest.fixture(autouse=True)
def cheap_logins() -> Iterator[None]:
    """Hundreds of logins; what a hash must cost is a matter of tests/access/test_passwords.py."""
    with quick_hashes():
        yield


@pytest.fixture(autouse=True)
def no_cookies(running: Service) -> Iterator[None]:
    """A browser of its own for every test."""
    running.http.cookies.clear()
    yield
    running.http.cookies.clear()
