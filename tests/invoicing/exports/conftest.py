"""Fixtures of the export tests."""

from tests.quick_hashes import use_quick_hashes

__all__ = ["use_quick_hashes"]  # autouse fixtures
