"""An organisation: a root user and everything it owns."""
