"""Tests of four-eyes approval."""
