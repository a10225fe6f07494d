"""Filters of reports that a user saves under a name."""
