"""Tests of legacy/templates."""
