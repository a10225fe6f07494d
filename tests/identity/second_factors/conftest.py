"""What tests of second factors share."""

from tests.quick_hashes import use_quick_hashes
from tests.running_service import clear_cookies

__all__ = ["clear_cookies", "use_quick_hashes"]  # autouse fixtures
