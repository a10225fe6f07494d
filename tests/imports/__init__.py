"""Tests of importer a month in."""
