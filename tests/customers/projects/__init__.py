"""Tests of projects, one file per operation."""
