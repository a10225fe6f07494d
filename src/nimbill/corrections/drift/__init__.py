"""Decisions about late costs of closed months, one for each import and customer."""
