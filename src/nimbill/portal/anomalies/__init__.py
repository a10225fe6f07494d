"""Days on which an account's service cost far more or less than usual."""
