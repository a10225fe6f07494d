"""Tests of sent invoices."""
