"""Tests of the portal's reports as files."""
