"""Tests of the users room, a file for each operation."""
