"""Payments received for sent invoices, their open balances, and which of them are overdue."""
