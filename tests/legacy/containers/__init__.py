"""Tests of legacy/containers."""
