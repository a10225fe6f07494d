"""Closing a month: its steps, and what is missing before it can be closed."""
