"""Tests of legacy/agent."""
