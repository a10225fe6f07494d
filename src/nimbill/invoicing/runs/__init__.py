"""Invoice runs: saving a month's settings and creating its invoices in bulk."""
