"""Tests of the portal's reports by tag."""
