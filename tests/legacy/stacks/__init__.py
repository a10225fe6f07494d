"""Tests of legacy/stacks."""
