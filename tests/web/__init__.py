"""Tests of the web project's generated files."""
