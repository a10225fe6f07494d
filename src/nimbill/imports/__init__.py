"""Importing a month of vendor costs: prepare, verify by a second reading, commit."""
