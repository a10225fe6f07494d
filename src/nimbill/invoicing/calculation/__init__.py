"""calculation."""
