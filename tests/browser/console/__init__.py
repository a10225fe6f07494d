"""Tests of the reseller's console in a real browser."""
