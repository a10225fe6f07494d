"""Tests of billing groups, one file per operation."""
