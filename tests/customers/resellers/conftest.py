"""Fixtures of the tests of reseller accounts."""

from tests.customers.resellers.reseller_accounts import company
from tests.quick_hashes import use_quick_hashes
from tests.running_service import clear_cookies

__all__ = ["clear_cookies", "company", "use_quick_hashes"]
