"""Tests of legacy/provisioning."""
