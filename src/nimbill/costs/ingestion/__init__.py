"""Reads vendor deliveries: fetch, decompress, parse, normalise, verify by a second reading."""
