"""Marks invoices as sent; a sent invoice does not change any more."""
