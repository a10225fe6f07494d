"""The invoices of a month in short, and what changed against an earlier month."""
