"""Tests of replaced invoices."""
