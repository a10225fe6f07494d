"""Tests of users, one file per operation."""
