"""Tests of CSV exports and download links."""
