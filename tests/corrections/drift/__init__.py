"""Tests of decisions about late costs."""
