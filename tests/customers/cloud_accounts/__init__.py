"""Tests of cloud accounts, one file per operation."""
