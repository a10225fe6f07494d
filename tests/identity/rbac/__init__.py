"""Tests of access control, one file per operation."""
