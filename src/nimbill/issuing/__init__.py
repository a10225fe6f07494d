"""What happens to an invoice after its creation: sending, mails to customers, the archive."""
