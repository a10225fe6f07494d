"""The proof board: rows that measure a claim, and broken variants that each row must catch."""
