"""Tests of contacts."""
