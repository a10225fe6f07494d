"""Tests of corrected invoices."""
