"""Fixtures of the tests of access control."""

from tests.quick_hashes import use_quick_hashes

__all__ = ["use_quick_hashes"]  # an autouse fixture
