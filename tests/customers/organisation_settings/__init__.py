"""Tests of the organisation's settings."""
