"""Tests of the access control room, a file for each operation."""
