"""Mails invoices to the contacts of a customer, and records what became of each mail."""
