"""Tests of the reseller accounts."""
