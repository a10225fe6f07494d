"""Tests of making organisations."""
