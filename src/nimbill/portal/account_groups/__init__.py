"""Groups of accounts that a customer defines for its reports."""
