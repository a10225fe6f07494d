"""Replaces sent invoices by new ones, which have numbers of their own."""
