"""Tests of mailed invoices."""
