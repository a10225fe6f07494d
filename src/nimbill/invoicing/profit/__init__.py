"""profit."""
