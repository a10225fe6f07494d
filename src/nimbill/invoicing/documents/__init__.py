"""Stored invoices: one document for each billing group, month and vendor."""
