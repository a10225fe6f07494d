"""The token endpoints."""
