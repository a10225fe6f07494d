"""Tests of the portal's invoices."""
