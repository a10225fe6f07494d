"""Tests of legacy/roles."""
