"""Tests of invoice templates."""
