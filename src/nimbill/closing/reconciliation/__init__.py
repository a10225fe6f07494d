"""The tie-out: compares the vendor's charges of a month with its invoices."""
