"""Version 3 of the API, deprecated. application/legacy_wiring.py says how to retire it."""
