"""Tests of the demo: its seed data, its cost files, and the running program."""
