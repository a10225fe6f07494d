"""Tests of the exported files and of the links to them."""
