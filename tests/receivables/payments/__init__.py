"""Tests of payments."""
