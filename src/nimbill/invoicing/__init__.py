"""Invoices: calculation, runs, stored documents, PDF, reconciliation, profit and CSV exports."""
