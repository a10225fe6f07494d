"""What an organisation settles once for all its invoices: rounding, bands, language."""
