"""Tests of the portal's usage."""
