"""Months of a vendor: which are open, parked or closed."""
