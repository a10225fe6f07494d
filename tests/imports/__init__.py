"""Tests of taking a month in."""
