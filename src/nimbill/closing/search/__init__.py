"""Search for billing groups, accounts and invoices with one text."""
