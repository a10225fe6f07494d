"""Tests of the portal's accounts."""
