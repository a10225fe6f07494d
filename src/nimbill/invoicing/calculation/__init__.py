"""The arithmetic of an invoice: pure functions from charges and terms to printed amounts."""
