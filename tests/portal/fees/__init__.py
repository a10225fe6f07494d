"""Tests of the portal's fees."""
