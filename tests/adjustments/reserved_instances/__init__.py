"""Tests of reserved instances."""
