"""One-off charges and credits that are applied to a customer's month."""
