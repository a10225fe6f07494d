"""Logging in: the token endpoints, refresh, console sessions, keys and throttling."""
