"""Tests of legacy/deployments."""
