"""The proof board: rows that measure a claim, and broken twins that each row must catch."""
