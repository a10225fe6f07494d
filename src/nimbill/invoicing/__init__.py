"""Invoices: calculation, runs, stored documents, PDF, explanation, previews and exports."""
