"""Finds issued documents by date, amount and counterparty, and exports them signed."""
