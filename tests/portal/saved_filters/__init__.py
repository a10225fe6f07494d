"""Tests of the portal's saved filters."""
