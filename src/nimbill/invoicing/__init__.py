"""invoicing."""
