"""Organisation settings: rounding, fee rate table, language and other defaults of invoices."""
