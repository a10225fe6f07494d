"""Reserved instances: what a customer bought at the vendor, and what of it was moved to others."""
