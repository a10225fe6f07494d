"""Tests of the projects room, a file for each operation."""
