"""Tests of importing a month of costs."""
